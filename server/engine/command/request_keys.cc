#include "server/engine/command/request_keys.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

// The number of arguments that an option has, itself included; 1 if it is not one of these.
size_t WordsOf(std::span<const ValuedOption> options, std::string_view word) {
  const auto found = std::ranges::find_if(
      options, [&](const ValuedOption& option) { return EqualsIgnoringCase(option.name, word); });
  return found == options.end() ? 1 : 1 + found->values;
}

// The position of the option that all keys follow; nullopt without the option, or without a key
// after it.
std::optional<size_t> RestOptionAt(const KeyPlaces& places, Args argv) {
  if (places.rest_option.empty()) return std::nullopt;
  for (size_t at = places.options_from; at + 1 < argv.size();) {
    if (EqualsIgnoringCase(argv[at], places.rest_option)) return at;
    at += WordsOf(places.other_options, argv[at]);
  }
  return std::nullopt;
}

}  // namespace

void RequestKeys::FindAll(const KeyPlaces& places) {
  if (const std::optional<size_t> option = RestOptionAt(places, argv_)) {
    return AddRest(places, *option);
  }
  AddFixed(places);
  if (!places.other_options.empty()) {
    AddLastOption(places);
  } else {
    AddOptions(places);
  }
  const size_t count_at = places.count_at;
  if (count_at != 0 && count_at < argv_.size() && !AddCounted(count_at)) run_count_ = 0;
}

// Adds the keys after the option at `option`. A request that also has a key in the usual place will
// be refused and has no keys. A request whose words cannot be divided has no keys either.
void RequestKeys::AddRest(const KeyPlaces& places, size_t option) {
  assert(places.rest_divisor > 0);
  if (places.first != 0 && !argv_[places.first].empty()) return;
  const size_t words = argv_.size() - option - 1;
  if (words % places.rest_divisor != 0) return;
  AddRun(option + 1, option + 1 + words / places.rest_divisor, 1);
}

// If an option occurs more than once the command uses one of them. All are found, so that none is
// used unchecked.
void RequestKeys::AddOptions(const KeyPlaces& places) {
  for (size_t option = 0; option < places.options.size(); ++option) {
    const size_t first = AfterOption(places.options[option], places.options_from);
    if (first != kNone) AddRun(first, option, kSearched);
  }
}

// Adds the argument after the last of the options. The values of other options are skipped, as the
// command's own parser does: only the key that it will use is checked.
void RequestKeys::AddLastOption(const KeyPlaces& places) {
  size_t last = kNone;
  size_t at = places.options_from;
  while (at + 1 < argv_.size()) {
    const bool is_option = std::ranges::any_of(places.options, [&](std::string_view option) {
      return EqualsIgnoringCase(option, argv_[at]);
    });
    if (is_option) last = at + 1;
    at += is_option ? 2 : WordsOf(places.other_options, argv_[at]);
  }
  if (last != kNone) AddRun(last, last + 1, 1);
}

// Adds the keys after their count. Returns false if the count is invalid.
bool RequestKeys::AddCounted(size_t count_at) {
  const std::optional<int64_t> count = ParseInteger(argv_[count_at]);
  if (!count || *count < 1 || static_cast<uint64_t>(*count) >= argv_.size() - count_at) {
    return false;
  }
  AddRun(count_at + 1, count_at + 1 + *count, 1);
  return true;
}

// The position after the first occurrence of the option from `from` on; kNone if no argument
// follows.
size_t RequestKeys::AfterOption(std::string_view option, size_t from) const {
  for (size_t at = from; at + 1 < argv_.size(); ++at) {
    if (EqualsIgnoringCase(argv_[at], option)) return at + 1;
  }
  return kNone;
}

size_t RequestKeys::Count() const {
  size_t count = 0;
  for (Iterator at = begin(); at != end(); ++at) ++count;
  return count;
}

}  // namespace zsetd
