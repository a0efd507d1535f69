#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// The checksum that Redis puts behind what it writes: the polynomial of Jones, bits reflected,
// beginning with 0 (crc64-redis; of "123456789" it is 0xe9c6d914c4b8d9ca). `before` is the checksum
// of the bytes before these, if there are any. O(length), sixteen bytes a step; 32 KB of tables.
// bench/protocol/crc64_bench compares it with a byte a step.
uint64_t Crc64(std::string_view bytes, uint64_t before = 0);

}  // namespace zsetd
