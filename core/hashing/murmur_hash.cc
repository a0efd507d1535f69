#include "core/hashing/murmur_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace zsetd {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read in place");

constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
constexpr int kShift = 47;
constexpr size_t kWord = sizeof(uint64_t);

uint64_t WordAt(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, kWord);
  return word;
}

}  // namespace

uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed) {
  uint64_t hash = seed ^ (bytes.size() * kFactor);
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) {
    uint64_t word = WordAt(bytes.data()) * kFactor;
    word ^= word >> kShift;
    hash = (hash ^ (word * kFactor)) * kFactor;
  }
  if (!bytes.empty()) {
    uint64_t rest = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      rest |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    hash = (hash ^ rest) * kFactor;
  }
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

}  // namespace zsetd
