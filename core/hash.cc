#include "core/hash.h"

#include <bit>
#include <cstring>

namespace zsetd {
namespace {

// The four words of state, named as in the paper, section 2.
struct SipState {
  uint64_t v0, v1, v2, v3;

  explicit SipState(HashKey key)
      : v0(key.low ^ 0x736f6d6570736575),
        v1(key.high ^ 0x646f72616e646f6d),
        v2(key.low ^ 0x6c7967656e657261),
        v3(key.high ^ 0x7465646279746573) {}

  void Round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }

  template <int rounds>
  void Absorb(uint64_t word) {
    v3 ^= word;
    for (int i = 0; i < rounds; ++i) Round();
    v0 ^= word;
  }
};

template <class Integer>
uint64_t Load(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Integer word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The last `size` bytes, fewer than 8, of `bytes` as a little-endian number. Loads of fixed sizes
// that overlap: a memcpy of unknown size costs more than the hash itself.
uint64_t Tail(std::string_view bytes, size_t size) {
  const char* end = bytes.data() + bytes.size();
  if (size == 0) return 0;
  if (bytes.size() >= 8) return Load<uint64_t>(end - 8) >> (64 - 8 * size);
  if (size >= 4) return Load<uint32_t>(end - size) | Load<uint32_t>(end - 4) << (8 * size - 32);
  const uint64_t first = Load<uint8_t>(end - size), middle = Load<uint8_t>(end - size + size / 2);
  return first | middle << (size / 2 * 8) | Load<uint8_t>(end - 1) << (8 * size - 8);
}

// Spreads one seed over many words. Steele, Lea, Flood 2014, "Fast Splittable PRNGs" (SplitMix).
uint64_t Mixed(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

}  // namespace

template <int c, int d>
uint64_t SipHash(HashKey key, std::string_view bytes) {
  SipState state(key);
  const char* const tail = bytes.data() + bytes.size() / 8 * 8;
  for (const char* at = bytes.data(); at != tail; at += 8) state.Absorb<c>(Load<uint64_t>(at));
  state.Absorb<c>(uint64_t{bytes.size()} << 56 | Tail(bytes, bytes.size() % 8));
  state.v2 ^= 0xff;
  for (int i = 0; i < d; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

template uint64_t SipHash<1, 3>(HashKey, std::string_view);
template uint64_t SipHash<2, 4>(HashKey, std::string_view);  // the paper's test vector is for this

BytesHash::BytesHash(uint64_t seed) : key_{Mixed(seed), Mixed(seed + 0x9e3779b97f4a7c15)} {}

}  // namespace zsetd
