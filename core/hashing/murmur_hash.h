#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// MurmurHash64A by Austin Appleby (MurmurHash2, public domain), with little-endian words. It does
// not resist an attacker: it is for formats that require it. O(length).
uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed);

}  // namespace zsetd
