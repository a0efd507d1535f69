#include "server/engine/command_table.h"

#include <algorithm>
#include <string>

#include "server/engine/arg_reader.h"

namespace zsetd {
namespace {

// Longer than any name; a longer word is no command.
constexpr size_t kMaxNameBytes = 64;

}  // namespace

// FNV-1a over the bytes with the case bit set: names are short and the table is ours.
size_t CommandTable::NameHash::operator()(std::string_view name) const {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : name) {
    hash = (hash ^ (static_cast<unsigned char>(letter) | 0x20u)) * 0x100000001b3u;
  }
  return hash ^ (hash >> 32);
}

bool CommandTable::NameEqual::operator()(std::string_view a, std::string_view b) const {
  return EqualsIgnoringCase(a, b);
}

CommandTable::CommandTable(std::span<const std::span<const Command>> families) {
  for (const auto& family : families) rows_.insert(rows_.end(), family.begin(), family.end());
  std::ranges::sort(rows_, {}, &Command::name);
  stats_.resize(rows_.size());
  index_.reserve(rows_.size());
  for (const Command& row : rows_) index_.emplace(row.name, &row);
}

const Command* CommandTable::Find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : found->second;
}

const Command* CommandTable::Find(Words words) const {
  const Command* command = words[0].size() <= kMaxNameBytes ? Find(words[0]) : nullptr;
  if (command == nullptr || command->IsSubcommand()) return nullptr;
  if (words.size() < 2 || SubcommandsOf(*command).empty()) return command;
  if (words[1].size() > kMaxNameBytes) return command;
  const std::string full = std::string(command->name) + "|" + std::string(words[1]);
  const Command* subcommand = Find(full);
  return subcommand == nullptr ? command : subcommand;
}

std::span<const Command> CommandTable::SubcommandsOf(const Command& command) const {
  const auto belongs = [&](const Command& row) {
    return row.name.starts_with(command.name) && row.name.substr(command.name.size())[0] == '|';
  };
  const Command* begin = &command + 1;
  const Command* end = begin;
  while (end != rows_.data() + rows_.size() && end->IsSubcommand() && belongs(*end)) ++end;
  return {begin, end};
}

void CommandTable::ResetStats() { std::ranges::fill(stats_, CommandStats()); }

}  // namespace zsetd
