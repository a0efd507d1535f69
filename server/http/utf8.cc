#include "server/http/utf8.h"

#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/stringbuffer.h>

#include "absl/strings/ascii.h"

namespace zsetd {

bool IsUtf8(std::string_view text) {
  rapidjson::MemoryStream bytes(text.data(), text.size());
  rapidjson::StringBuffer ignored;
  while (bytes.Tell() < text.size()) {
    if (!rapidjson::UTF8<>::Validate(bytes, ignored)) return false;
  }
  return bytes.Tell() == text.size();
}

std::string AsUtf8(std::string_view text) {
  if (IsUtf8(text)) return std::string(text);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string ascii;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (absl::ascii_isascii(code)) {
      ascii += byte;
    } else {
      ascii += {'\\', 'x', kDigits[code / 16], kDigits[code % 16]};
    }
  }
  return ascii;
}

}  // namespace zsetd
