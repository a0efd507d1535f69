#pragma once

#include <cstddef>

namespace zsetd {

// A length, packed so that it can be read from either side: seven bits a byte, the lowest first.
// All bytes except the last one read have the high bit set. A varint that is written forward is
// read from its first byte on; one that is written backward is read from its last byte down.
//
//     300 = 10 0101100b     forward  [1 0101100] [0 0000010]     backward  [0 0000010] [1 0101100]
struct Varint {
  size_t length = 0;
  size_t bytes = 0;  // of the varint itself
};

// The number of bytes of the varint of this length: 1 below 128, 2 below 16384, 10 at most.
size_t VarintBytes(size_t length);

// Write the varint at `at` and return its end.
char* WriteVarintForward(char* at, size_t length);
char* WriteVarintBackward(char* at, size_t length);

// The varint that starts at `at`, written forward; the one that ends before `end`, written
// backward.
Varint ReadVarintForward(const char* at);
Varint ReadVarintBackward(const char* end);

}  // namespace zsetd
