#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace zsetd {

// The key of a SipHash: 128 bits that only the server knows.
struct HashKey {
  uint64_t low = 0;
  uint64_t high = 0;
};

namespace sip_hash {

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
inline uint64_t Load(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Integer word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The last `size` bytes, fewer than 8, of `bytes` as a little-endian number. Uses overlapping loads
// of fixed sizes, because a memcpy of unknown size costs more than the hash itself.
inline uint64_t Tail(std::string_view bytes, size_t size) {
  const char* end = bytes.data() + bytes.size();
  if (size == 0) return 0;
  if (bytes.size() >= 8) return Load<uint64_t>(end - 8) >> (64 - 8 * size);
  if (size >= 4) return Load<uint32_t>(end - size) | Load<uint32_t>(end - 4) << (8 * size - 32);
  const uint64_t first = Load<uint8_t>(end - size), middle = Load<uint8_t>(end - size + size / 2);
  return first | middle << (size / 2 * 8) | Load<uint8_t>(end - 1) << (8 * size - 8);
}

}  // namespace sip_hash

// SipHash-c-d (Aumasson and Bernstein 2012): `c` rounds for each eight bytes, `d` at the end. It is
// inline because most keys are short.
template <int c, int d>
uint64_t SipHash(HashKey key, std::string_view bytes) {
  sip_hash::SipState state(key);
  const char* const tail = bytes.data() + bytes.size() / 8 * 8;
  for (const char* at = bytes.data(); at != tail; at += 8)
    state.template Absorb<c>(sip_hash::Load<uint64_t>(at));
  state.template Absorb<c>(uint64_t{bytes.size()} << 56 | sip_hash::Tail(bytes, bytes.size() % 8));
  state.v2 ^= 0xff;
  for (int i = 0; i < d; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace zsetd
