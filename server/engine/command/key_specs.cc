#include "server/engine/command/key_specs.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

std::string_view UsualUse(const Command& command) {
  if (command.keys.are_channels) return "not_key";
  return command.Has(kWrite) ? "RW access update" : "RO access";
}

// Removes the text up to the separator, or all of it, from the front of `text` and returns it.
std::string_view TakePart(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
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
  const Args words =
      variable.words_of == nullptr ? request.subspan(options_from) : variable.words_of(request);
  return HasAny(words, variable.options) ? variable.with : variable.without;
}

bool Names(std::string_view flags, std::string_view flag) {
  while (!flags.empty()) {
    if (TakePart(flags, ' ') == flag) return true;
  }
  return false;
}

}  // namespace

// Fixed positions have a spec each, so that each can be named, unless `key_use` has one use for all
// of them. If the first of the keys up to the end is used in another way, as the destination, it
// has a spec of its own.
KeySpecs KeySpecsOf(const Command& command) {
  const KeyPlaces& keys = command.keys;
  std::string_view uses = command.key_use;
  const bool has_uses = !uses.empty();
  const bool has_several_uses = uses.find(',') != std::string_view::npos;
  KeySpecs specs;
  const auto add = [&](KeySpec spec) {
    spec.use = uses.empty() ? UsualUse(command) : TakePart(uses, ',');
    specs.push_back(spec);
  };
  const bool up_to_the_end = keys.first != 0 && keys.last < 0;
  const bool first_apart = up_to_the_end && has_several_uses;
  if (first_apart) add({.begin = keys.first, .counted = false});
  if (up_to_the_end) {
    add({.begin = keys.first + first_apart,
         .counted = false,
         .last = keys.last,
         .step = keys.step});
  }
  if (keys.last > keys.first && has_uses && !has_several_uses) {
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
  if (!keys.rest_option.empty()) {
    const bool is_optional = keys.first != 0;  // then it is searched for from the end backwards
    add({.begin = is_optional ? -2 : keys.options_from,
         .counted = false,
         .last = -1,
         .limit = keys.rest_divisor > 1 ? keys.rest_divisor : 0,
         .option = keys.rest_option});
  }
  return specs;
}

bool KeyUse::Reads() const { return Names(flags, "access"); }

bool KeyUse::Writes() const {
  return Names(flags, "insert") || Names(flags, "update") || Names(flags, "delete");
}

// By the last spec that begins before the key.
KeyUse KeyUses::At(size_t position) const {
  const auto begins_behind = [&](const KeySpec& spec) {
    return static_cast<size_t>(spec.begin) > position;
  };
  const auto next = std::ranges::find_if(specs_, begins_behind);
  assert(next != specs_.begin());
  return {UseBy(command_, argv_, std::prev(next)->use)};
}

}  // namespace zsetd
