#pragma once

#include <cstdint>
#include <string_view>

namespace zsetd {

// The checksum that Redis appends to its files and payloads: the polynomial of Jones, bits
// reflected, starting with 0 (crc64-redis; for "123456789" it is 0xe9c6d914c4b8d9ca). `before` is
// the checksum of the preceding bytes. O(length), with the processor's carry-less multiplication if
// it has one. bench/protocol/crc64_bench compares it with a byte a step.
uint64_t Crc64(std::string_view bytes, uint64_t before = 0);

}  // namespace zsetd
