#include "server/engine/command/command_name_index.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

template <class Word>
uint64_t Load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The eight bytes with their capitals as small letters. Only a capital becomes a small letter, but
// other bytes change, too: '@' becomes '`'.
uint64_t InLowerCase(uint64_t bytes) { return bytes | 0x2020202020202020; }

// Whether a name has small letters only, all of which its ends contain.
bool IsExact(std::string_view name) {
  const auto is_letter = [](char c) { return 'a' <= c && c <= 'z'; };
  return name.size() <= 2 * sizeof(uint64_t) && std::ranges::all_of(name, is_letter);
}

// For names shorter than eight bytes the two loads overlap.
std::pair<uint64_t, uint64_t> Ends(std::string_view name) {
  const char *begin = name.data(), *end = begin + name.size();
  if (name.size() >= 8) return {Load<uint64_t>(begin), Load<uint64_t>(end - 8)};
  if (name.size() >= 4) return {Load<uint32_t>(begin), Load<uint32_t>(end - 4)};
  if (name.size() >= 2) return {Load<uint16_t>(begin), Load<uint16_t>(end - 2)};
  return {name.empty() ? 0 : Load<uint8_t>(begin), 0};
}

}  // namespace

NameIndex::Folded NameIndex::Fold(std::string_view name) {
  const auto [first, last] = Ends(name);
  return {InLowerCase(first), InLowerCase(last), name.size()};
}

NameIndex::NameIndex(std::vector<std::string_view> names)
    : names_(std::move(names)), slots_(std::bit_ceil(8 * names_.size() + 1), kFree) {
  assert(names_.size() < kFree);
  for (size_t place = 0; place < names_.size(); ++place) {
    folded_.push_back({Fold(names_[place]), IsExact(names_[place])});
    size_t slot = SlotOf(folded_[place].folded);
    while (slots_[slot] != kFree) slot = (slot + 1) % slots_.size();
    slots_[slot] = static_cast<uint16_t>(place);
  }
}

size_t NameIndex::Find(std::string_view name) const {
  const Folded folded = Fold(name);
  for (size_t slot = SlotOf(folded); slots_[slot] != kFree; slot = (slot + 1) % slots_.size()) {
    const size_t place = slots_[slot];
    const Name& found = folded_[place];
    if (found.folded != folded) continue;
    if (found.is_exact || EqualsIgnoringCase(names_[place], name)) return place;
  }
  return names_.size();
}

size_t NameIndex::SlotOf(const Folded& name) const {
  assert(std::has_single_bit(slots_.size()));
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // Knuth, TAOCP 3, 6.4: multiplicative hashing
  const uint64_t mixed = (name.first * kGolden ^ name.last) + name.size;
  return mixed * kGolden >> 40 & (slots_.size() - 1);
}

}  // namespace zsetd
