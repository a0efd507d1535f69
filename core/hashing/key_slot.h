#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace zsetd {

// Redis Cluster divides all keys into this number of slots.
inline constexpr size_t kSlotCount = 16384;

// The part of a key that determines its slot: the bytes between the first '{' and the next '}', if
// there are any, else the whole key. Keys with the same hash tag are in the same slot. O(length).
std::string_view HashTag(std::string_view key);

// The slot of a key: CRC-16/XMODEM of its HashTag(), modulo kSlotCount. O(length).
uint16_t KeySlot(std::string_view key);

// The slot of a key if the caller knows it; nullopt: it does not.
using KnownSlot = std::optional<uint16_t>;

// The slot of all keys that a pattern stands for: that of the hash tag before its first special
// character; nullopt if they may be in several slots. O(length).
std::optional<uint16_t> PatternSlot(std::string_view pattern);

}  // namespace zsetd
