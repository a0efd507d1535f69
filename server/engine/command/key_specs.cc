#include "server/engine/command/key_specs.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

std::string_view UsualUse(const Command& command) {
  if (command.keys.are_channels) return "not_key";
  return command.Has(kWrite) ? "RW access update" : "RO access";
}

bool HasAny(Args argv, std::span<const std::string_view> options) {
  return std::ranges::any_of(argv, [&](std::string_view word) {
    return std::ranges::any_of(
        options, [&](std::string_view option) { return EqualsIgnoringCase(word, option); });
  });
}

// The use of a key that may depend on the options of the request.
std::string_view UseBy(const Command& command, Args request, std::string_view use) {
  const VariableUse& variable = command.variable_use;
  if (variable.options.empty()) return use;
  const size_t options_from = std::min(variable.options_from, request.size());
  const bool has_any = HasAny(request.subspan(options_from), variable.options);
  return has_any ? variable.with : variable.without;
}

// How the key at this position of a request is used: by the last spec that begins before it.
std::string_view UseAt(const Command& command, const std::vector<KeySpec>& specs, Args request,
                       size_t position) {
  const auto begins_behind = [&](const KeySpec& spec) {
    return static_cast<size_t>(spec.begin) > position;
  };
  const auto next = std::ranges::find_if(specs, begins_behind);
  return UseBy(command, request, std::prev(next)->use);
}

bool Names(std::string_view use, std::string_view word) {
  return std::ranges::count(Split(use, ' '), word) > 0;
}

}  // namespace

// Fixed positions have a spec each, so that each can be named, unless `key_use` has one use for all
// of them. If the first of the keys up to the end is used in another way, as the destination, it
// has a spec of its own.
std::vector<KeySpec> KeySpecsOf(const Command& command) {
  const KeyPlaces& keys = command.keys;
  const std::vector<std::string_view> uses = Split(command.key_use, ',');
  std::vector<KeySpec> specs;
  const auto add = [&](KeySpec spec) {
    spec.use = specs.size() < uses.size() ? uses[specs.size()] : UsualUse(command);
    specs.push_back(spec);
  };
  const bool up_to_the_end = keys.first != 0 && keys.last < 0;
  const bool first_apart = up_to_the_end && uses.size() > 1;
  if (first_apart) add({.begin = keys.first, .counted = false});
  if (up_to_the_end) {
    add({.begin = keys.first + first_apart,
         .counted = false,
         .last = keys.last,
         .step = keys.step});
  }
  if (keys.last > keys.first && uses.size() == 1) {
    add({.begin = keys.first, .counted = false, .last = keys.last - keys.first, .step = keys.step});
  } else {
    for (int at = keys.first; at != 0 && at <= keys.last; at += keys.step) {
      add({.begin = at, .counted = false});
    }
  }
  if (keys.count_at != 0) add({.begin = keys.count_at, .counted = true});
  if (keys.by_patterns) add({.begin = keys.options_from, .counted = false, .unknown = true});
  for (const std::string_view option : keys.options) {
    add({.begin = keys.options_from,
         .counted = false,
         .option = option,
         .unknown = !keys.other_options.empty()});
  }
  if (!keys.rest_option.empty()) {  // from the end backwards
    add({.begin = -2, .counted = false, .last = -1, .option = keys.rest_option});
  }
  return specs;
}

bool UsedKey::Reads() const { return Names(use, "access"); }

bool UsedKey::Writes() const {
  return Names(use, "insert") || Names(use, "update") || Names(use, "delete");
}

std::vector<UsedKey> UsedKeys(const Command& command, Args argv) {
  const std::vector<KeySpec> specs = KeySpecsOf(command);
  std::vector<UsedKey> keys;
  for (const size_t position : KeyPositions(command, argv)) {
    keys.push_back({position, UseAt(command, specs, argv, position)});
  }
  return keys;
}

}  // namespace zsetd
