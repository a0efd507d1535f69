#include "core/hashing/key_slot.h"

#include "core/hashing/crc16.h"
#include "core/util/byte_scan.h"

namespace zsetd {

std::string_view HashTag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::optional<uint16_t> PatternSlot(std::string_view pattern) {
  const std::string_view plain = pattern.substr(0, pattern.find_first_of("*?[\\"));
  const bool has_tag = HashTag(plain).size() != plain.size();
  if (!has_tag && plain.size() != pattern.size()) return std::nullopt;
  return KeySlot(plain);
}

uint16_t KeySlot(std::string_view key) {
  if (HasByte(key, '{')) [[unlikely]]
    return Crc16(HashTag(key)) % kSlotCount;
  return Crc16(key) % kSlotCount;
}

}  // namespace zsetd
