#include "server/engine/command/command.h"

#include <algorithm>
#include <optional>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// Adds the positions of the arguments after an option from `first` on. If the option occurs more
// than once the command uses one of them; all are reported, so that none is used unchecked.
void AddKeysBehind(std::string_view option, size_t first, Args argv,
                   std::vector<size_t>& positions) {
  for (size_t at = first; at + 1 < argv.size(); ++at) {
    if (EqualsIgnoringCase(argv[at], option)) positions.push_back(at + 1);
  }
}

// The number of arguments that an option has, itself included; 1 if it is not one of these.
size_t WordsOf(std::span<const ValuedOption> options, std::string_view word) {
  const auto found = std::ranges::find_if(
      options, [&](const ValuedOption& option) { return EqualsIgnoringCase(option.name, word); });
  return found == options.end() ? 1 : 1 + found->values;
}

// Adds the position of the argument after the last of the options. The values of other options are
// skipped, as the command's own parser does: only the key that it will use is checked.
void AddKeyBehindLast(const KeyPlaces& keys, Args argv, std::vector<size_t>& positions) {
  std::optional<size_t> last;
  size_t at = keys.options_from;
  while (at + 1 < argv.size()) {
    const bool is_option = std::ranges::any_of(keys.options, [&](std::string_view option) {
      return EqualsIgnoringCase(option, argv[at]);
    });
    if (is_option) last = at + 1;
    at += is_option ? 2 : WordsOf(keys.other_options, argv[at]);
  }
  if (last) positions.push_back(*last);
}

// The position of the option that all keys follow; nullopt without the option, or without a key
// after it.
std::optional<size_t> RestOptionAt(const KeyPlaces& keys, Args argv) {
  if (keys.rest_option.empty()) return std::nullopt;
  for (size_t at = keys.options_from; at + 1 < argv.size();) {
    if (EqualsIgnoringCase(argv[at], keys.rest_option)) return at;
    at += WordsOf(keys.other_options, argv[at]);
  }
  return std::nullopt;
}

// The keys after the option at `option`. A request that also has a key in the usual place will be
// refused and has no keys.
std::vector<size_t> KeysBehindRestOption(const KeyPlaces& keys, Args argv, size_t option) {
  std::vector<size_t> positions;
  if (!argv[keys.first].empty()) return positions;
  for (size_t at = option + 1; at < argv.size(); ++at) positions.push_back(at);
  return positions;
}

}  // namespace

std::vector<size_t> KeyPositions(const Command& command, Args argv) {
  std::vector<size_t> positions;
  const KeyPlaces& keys = command.keys;
  if (keys.are_channels) return positions;
  if (const std::optional<size_t> option = RestOptionAt(keys, argv)) {
    return KeysBehindRestOption(keys, argv, *option);
  }
  const int size = static_cast<int>(argv.size());
  const int last = keys.last < 0 ? size + keys.last : keys.last;
  for (int at = keys.first; at != 0 && at <= last && at < size; at += keys.step) {
    positions.push_back(at);
  }
  if (!keys.other_options.empty()) {
    AddKeyBehindLast(keys, argv, positions);
  } else {
    for (const std::string_view option : keys.options) {
      AddKeysBehind(option, keys.options_from, argv, positions);
    }
  }
  const size_t count_at = keys.count_at;
  if (count_at == 0 || count_at >= argv.size()) return positions;
  const std::optional<int64_t> count = ParseInteger(argv[count_at]);
  if (!count || *count < 1 || static_cast<uint64_t>(*count) >= argv.size() - count_at) return {};
  for (size_t at = count_at + 1; at <= count_at + *count; ++at) positions.push_back(at);
  return positions;
}

}  // namespace zsetd
