#pragma once

#include <cstdint>
#include <string_view>

#include "core/hashing/sip_hash.h"

namespace zsetd {

// SipHash-1-3 with a seed. Who does not know the seed cannot make up bytes that meet in one bucket.
class BytesHash {
 public:
  explicit BytesHash(uint64_t seed);

  // O(length).
  uint64_t operator()(std::string_view bytes) const { return SipHash<1, 3>(key_, bytes); }

 private:
  HashKey key_;
};

}  // namespace zsetd
