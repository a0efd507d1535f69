#pragma once

#include <cstdint>
#include <string_view>

#include "core/hashing/bytes_hash.h"

namespace zsetd {

// The hash of every structure that stores bytes chosen by clients. The whole process shares one
// key, because a key in each set would take too much memory. Without SeedKeyedHash() it has a fixed
// seed, so that tests and fuzzers repeat; a server seeds it, so that no client can construct bytes
// that share a bucket. (absl::Hash does not promise that: bytes that equal one of its constants
// cancel its seed.) The hash differs from run to run and is never stored.
inline constinit BytesHash keyed_hash{0};

// Must be called before the first hash: structures do not rehash their elements.
inline void SeedKeyedHash(uint64_t seed) { keyed_hash = BytesHash(seed); }

// O(length).
inline uint64_t KeyedHash(std::string_view bytes) { return keyed_hash(bytes); }

// The hash for containers of absl and the standard library.
struct KeyedHasher {
  using is_transparent = void;
  uint64_t operator()(std::string_view bytes) const { return KeyedHash(bytes); }
};

}  // namespace zsetd
