#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace zsetd {

// Searches in short arrays of bytes: sixteen at a time on x86-64 (with SSE2), in plain C++
// elsewhere. Neither reads outside the array.
namespace portable {

// Calls visit(index) for each byte equal to `wanted`, in order, until it returns true. Returns
// whether it did.
template <class Visit>
bool FindByte(const uint8_t* bytes, size_t first, size_t count, uint8_t wanted, Visit visit) {
  for (size_t i = first; i < count; ++i) {
    if (bytes[i] == wanted && visit(i)) return true;
  }
  return false;
}

// The sum of the bytes. A byte equal to `marked` counts as `instead`.
inline size_t SumBytes(const uint8_t* bytes, size_t count, uint8_t marked, uint8_t instead) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += bytes[i] == marked ? instead : bytes[i];
  return sum;
}

}  // namespace portable

#if defined(__SSE2__)

// Returns which of 16 to 64 bytes are equal to `wanted`, one bit each. Does not branch on the bytes
// or their number, because such branches would be mispredicted. A chunk that would reach past the
// end begins sixteen bytes before it and overlaps with the previous one.
inline uint64_t MatchBytes(const uint8_t* bytes, size_t count, uint8_t wanted) {
  const __m128i pattern = _mm_set1_epi8(static_cast<char>(wanted));
  uint64_t matches = 0;
  for (const size_t chunk : {0, 16, 32, 48}) {
    const size_t i = std::min(chunk, count - 16);
    const __m128i found = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const auto bits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(found, pattern)));
    matches |= uint64_t{bits} << i;
  }
  return matches;
}

// Whether one of the bytes is equal to `wanted`. Fast for 8 to 32 bytes, which are read as two
// words that may overlap.
inline bool HasByte(std::string_view bytes, char wanted) {
  const size_t count = bytes.size();
  const auto word = [&](size_t at) { return reinterpret_cast<const __m128i*>(bytes.data() + at); };
  const __m128i pattern = _mm_set1_epi8(wanted);
  if (count >= 16 && count <= 32) {
    const __m128i first = _mm_cmpeq_epi8(_mm_loadu_si128(word(0)), pattern);
    const __m128i last = _mm_cmpeq_epi8(_mm_loadu_si128(word(count - 16)), pattern);
    return _mm_movemask_epi8(_mm_or_si128(first, last)) != 0;
  }
  if (count >= 8 && count < 16) {
    const __m128i both =
        _mm_unpacklo_epi64(_mm_loadl_epi64(word(0)), _mm_loadl_epi64(word(count - 8)));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(both, pattern)) != 0;
  }
  return bytes.find(wanted) != std::string_view::npos;
}

template <class Visit>
bool FindByte(const uint8_t* bytes, size_t count, uint8_t wanted, Visit visit) {
  size_t i = 0;
  for (; i + 16 <= count; i += 64) {
    uint64_t matches = MatchBytes(bytes + i, std::min<size_t>(count - i, 64), wanted);
    for (; matches != 0; matches &= matches - 1) {
      if (visit(i + std::countr_zero(matches))) return true;
    }
  }
  return i < count && portable::FindByte(bytes, i, count, wanted, visit);
}

inline size_t SumBytes(const uint8_t* bytes, size_t count, uint8_t marked, uint8_t instead) {
  const __m128i mark = _mm_set1_epi8(static_cast<char>(marked));
  const __m128i other = _mm_set1_epi8(static_cast<char>(instead));
  __m128i sums = _mm_setzero_si128();
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i is_marked = _mm_cmpeq_epi8(chunk, mark);
    const __m128i counted =
        _mm_or_si128(_mm_and_si128(is_marked, other), _mm_andnot_si128(is_marked, chunk));
    sums = _mm_add_epi64(sums, _mm_sad_epu8(counted, _mm_setzero_si128()));
  }
  const size_t both = _mm_cvtsi128_si64(sums) + _mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
  return both + portable::SumBytes(bytes + i, count - i, marked, instead);
}

#else

inline bool HasByte(std::string_view bytes, char wanted) {
  return bytes.find(wanted) != std::string_view::npos;
}

template <class Visit>
bool FindByte(const uint8_t* bytes, size_t count, uint8_t wanted, Visit visit) {
  return portable::FindByte(bytes, 0, count, wanted, visit);
}

using portable::SumBytes;

#endif

}  // namespace zsetd
