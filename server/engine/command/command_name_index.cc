#include "server/engine/command/command_name_index.h"

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

// The eight bytes with their capitals as small letters. No sum carries into the next byte.
uint64_t InLowerCase(uint64_t bytes) {
  constexpr uint64_t kEach = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x80 * kEach;
  const uint64_t low = bytes & ~kHighBits;
  const uint64_t from_a = low + (0x80 - 'A') * kEach;
  const uint64_t behind_z = low + (0x80 - 'Z' - 1) * kEach;
  const uint64_t capitals = from_a & ~behind_z & ~bytes & kHighBits;
  return bytes | capitals >> 2;
}

// For names shorter than eight bytes the two loads overlap.
std::pair<uint64_t, uint64_t> Ends(std::string_view name) {
  const char *begin = name.data(), *end = begin + name.size();
  if (name.size() >= 8) return {Load<uint64_t>(begin), Load<uint64_t>(end - 8)};
  if (name.size() >= 4) return {Load<uint32_t>(begin), Load<uint32_t>(end - 4)};
  if (name.size() >= 2) return {Load<uint16_t>(begin), Load<uint16_t>(end - 2)};
  return {name.empty() ? 0 : Load<uint8_t>(begin), 0};
}

// For two names with equal ends.
bool IsRestEqual(std::string_view a, std::string_view b) {
  return a.size() <= 2 * sizeof(uint64_t) || EqualsIgnoringCase(a, b);
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
    folded_.push_back(Fold(names_[place]));
    size_t slot = SlotOf(folded_[place]);
    while (slots_[slot] != kFree) slot = (slot + 1) % slots_.size();
    slots_[slot] = static_cast<uint16_t>(place);
  }
}

size_t NameIndex::Find(std::string_view name) const {
  const Folded folded = Fold(name);
  for (size_t slot = SlotOf(folded); slots_[slot] != kFree; slot = (slot + 1) % slots_.size()) {
    const size_t place = slots_[slot];
    if (folded_[place] == folded && IsRestEqual(names_[place], name)) return place;
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
