#include "server/engine/command/command_table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// A request of the arity that is accepted has this argument.
bool HasOneKey(const Command& row) {
  const KeyPlaces& keys = row.keys;
  const bool is_plain = keys.count_at == 0 && keys.options.empty() && keys.rest_option.empty() &&
                        !keys.by_patterns && !keys.are_channels;
  return is_plain && keys.first == 1 && keys.last == 1 && !row.AcceptsCount(1);
}

std::vector<Command> SortedRows(std::span<const std::span<const Command>> families) {
  std::vector<Command> rows;
  for (const auto& family : families) rows.insert(rows.end(), family.begin(), family.end());
  std::ranges::sort(rows, {}, &Command::name);
  for (Command& row : rows) {
    if (row.name.find('|') != std::string_view::npos) row.flags |= kSubcommand;
    row.has_one_key = HasOneKey(row);
  }
  return rows;
}

std::vector<std::string_view> NamesOfWhole(std::span<const Command> rows) {
  std::vector<std::string_view> names;
  for (const Command& row : rows) {
    if (!row.IsSubcommand()) names.push_back(row.name);
  }
  return names;
}

}  // namespace

CommandTable::CommandTable(std::span<const std::span<const Command>> families)
    : rows_(SortedRows(families)),
      names_(NamesOfWhole(rows_)),
      new_names_(names_.names().begin(), names_.names().end()),
      callable_names_({}) {
  for (const Command& row : rows_) {
    if (row.IsSubcommand()) {
      assert(!wholes_.empty() && row.name.starts_with(wholes_.back().row->name));
      ++wholes_.back().subcommands;
    } else {
      wholes_.push_back({&row, 0});
    }
  }
  IndexNewNames();
}

void CommandTable::IndexNewNames() {
  callable_.clear();
  std::vector<std::string_view> names;
  for (size_t place = 0; place < wholes_.size(); ++place) {
    if (new_names_[place].empty()) continue;
    callable_.push_back(wholes_[place]);
    names.push_back(new_names_[place]);
  }
  callable_names_ = NameIndex(std::move(names));
}

const CommandTable::Whole* CommandTable::FindWhole(std::string_view name) const {
  const size_t place = names_.Find(name);
  return place < wholes_.size() ? &wholes_[place] : nullptr;
}

const CommandTable::Whole* CommandTable::FindCallable(std::string_view name) const {
  const size_t place = callable_names_.Find(name);
  return place < callable_.size() ? &callable_[place] : nullptr;
}

bool CommandTable::Rename(std::string_view name, std::string_view new_name) {
  const Whole* whole = FindCallable(name);
  if (whole == nullptr || (!new_name.empty() && FindCallable(new_name) != nullptr)) return false;
  new_names_[names_.Find(whole->row->name)] = LowerCase(new_name);
  IndexNewNames();
  return true;
}

bool CommandTable::IsCallable(const Command& command) const {
  const size_t place = names_.Find(command.name.substr(0, command.name.find('|')));
  assert(place < new_names_.size());
  return !new_names_[place].empty();
}

const Command* CommandTable::FindSubcommand(const Whole& whole, std::string_view name) const {
  for (const Command* row = whole.row + 1; row <= whole.row + whole.subcommands; ++row) {
    if (EqualsIgnoringCase(row->name.substr(whole.row->name.size() + 1), name)) return row;
  }
  return nullptr;
}

const Command* CommandTable::Find(Args argv) const { return RowFor(FindCallable(argv[0]), argv); }

const Command* CommandTable::FindOriginal(Args argv) const {
  return RowFor(FindWhole(argv[0]), argv);
}

const Command* CommandTable::RowFor(const Whole* whole, Args argv) const {
  assert(!argv.empty());
  if (whole == nullptr) return nullptr;
  if (argv.size() < 2 || whole->subcommands == 0) return whole->row;
  const Command* subcommand = FindSubcommand(*whole, argv[1]);
  return subcommand == nullptr ? whole->row : subcommand;
}

const Command* CommandTable::Find(std::string_view name) const {
  const size_t bar = name.find('|');
  const Whole* whole = FindCallable(name.substr(0, bar));
  if (whole == nullptr || bar == std::string_view::npos) return whole ? whole->row : nullptr;
  return FindSubcommand(*whole, name.substr(bar + 1));
}

const Command* CommandTable::FindOriginal(std::string_view name) const {
  const size_t bar = name.find('|');
  const Whole* whole = FindWhole(name.substr(0, bar));
  if (whole == nullptr || bar == std::string_view::npos) return whole ? whole->row : nullptr;
  return FindSubcommand(*whole, name.substr(bar + 1));
}

std::span<const Command> CommandTable::SubcommandsOf(const Command& command) const {
  const Whole* whole = FindWhole(command.name);
  if (whole == nullptr) return {};
  return {whole->row + 1, whole->subcommands};
}

}  // namespace zsetd
