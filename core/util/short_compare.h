#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace zsetd {
namespace internal {

template <class Word>
bool SameWord(const char* a, const char* b) {
  Word words[2];
  std::memcpy(&words[0], a, sizeof(Word));
  std::memcpy(&words[1], b, sizeof(Word));
  return words[0] == words[1];
}

// Compares at least one word. The last word comes first, because most different names differ there.
template <class Word>
bool SameWords(const char* a, const char* b, size_t size) {
  const size_t last = size - sizeof(Word);
  if (!SameWord<Word>(a + last, b + last)) return false;
  for (size_t i = 0; i < last; i += sizeof(Word)) {
    if (!SameWord<Word>(a + i, b + i)) return false;
  }
  return true;
}

}  // namespace internal

// Whether the bytes at `at` equal `bytes`. For names of about ten bytes: a lookup compares one or
// two of them, so a call of memcmp would dominate.
inline bool SameBytes(const char* at, std::string_view bytes) {
  const size_t size = bytes.size();
  if (size >= 8) return internal::SameWords<uint64_t>(at, bytes.data(), size);
  if (size >= 4) return internal::SameWords<uint32_t>(at, bytes.data(), size);
  for (size_t i = 0; i < size; ++i) {
    if (at[i] != bytes[i]) return false;
  }
  return true;
}

}  // namespace zsetd
