#include "server/engine/name_index.h"

#include <bit>
#include <cstring>
#include <utility>

#include "server/engine/arg_reader.h"

namespace zsetd {
namespace {

template <class Word>
uint64_t Load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The name's first and last eight bytes; of a shorter one, all its bytes, some of them twice.
std::pair<uint64_t, uint64_t> Ends(std::string_view name) {
  const char *begin = name.data(), *end = begin + name.size();
  if (name.size() >= 8) return {Load<uint64_t>(begin), Load<uint64_t>(end - 8)};
  if (name.size() >= 4) return {Load<uint32_t>(begin), Load<uint32_t>(end - 4)};
  if (name.size() >= 2) return {Load<uint16_t>(begin), Load<uint16_t>(end - 2)};
  return {name.empty() ? 0 : Load<uint8_t>(begin), 0};
}

}  // namespace

NameIndex::NameIndex(std::vector<std::string_view> names)
    : names_(std::move(names)), slots_(std::bit_ceil(8 * names_.size() + 1), kFree) {
  for (size_t place = 0; place < names_.size(); ++place) {
    size_t slot = SlotOf(names_[place]);
    while (slots_[slot] != kFree) slot = (slot + 1) % slots_.size();
    slots_[slot] = static_cast<uint16_t>(place);
  }
}

size_t NameIndex::Find(std::string_view name) const {
  for (size_t slot = SlotOf(name); slots_[slot] != kFree; slot = (slot + 1) % slots_.size()) {
    if (EqualsIgnoringCase(names_[slots_[slot]], name)) return slots_[slot];
  }
  return names_.size();
}

size_t NameIndex::SlotOf(std::string_view name) const {
  constexpr uint64_t kCaseBits = 0x2020202020202020;
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // Knuth, TAOCP 3, 6.4: multiplicative hashing
  const auto [first, last] = Ends(name);
  const uint64_t mixed = ((first | kCaseBits) * kGolden ^ (last | kCaseBits)) + name.size();
  return mixed * kGolden >> 40 & (slots_.size() - 1);
}

}  // namespace zsetd
