#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace zsetd::bench {

// A short string in a separate allocation: a length, a kind, the bytes and a zero.
struct TextbookString {
  uint8_t length;
  uint8_t room;
  uint8_t kind;
  char bytes[1];

  static TextbookString* Make(std::string_view text) {
    auto* made = static_cast<TextbookString*>(::operator new(4 + text.size()));
    made->length = made->room = static_cast<uint8_t>(text.size());
    made->kind = 1;
    std::memcpy(made->bytes, text.data(), text.size());
    made->bytes[text.size()] = 0;
    return made;
  }
  static void Free(TextbookString* text) { ::operator delete(text); }

  std::string_view view() const { return {bytes, length}; }
};

}  // namespace zsetd::bench
