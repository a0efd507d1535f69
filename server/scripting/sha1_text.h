#pragma once

#include <openssl/sha.h>

#include <array>
#include <string_view>

namespace zsetd {

// The SHA-1 of a script's text as 40 lower-case hex digits.
using Sha1Text = std::array<char, 2 * SHA_DIGEST_LENGTH>;

inline Sha1Text Sha1TextOf(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, SHA_DIGEST_LENGTH> hash;
  SHA1(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  Sha1Text text;
  for (size_t i = 0; i < hash.size(); ++i) {
    text[2 * i] = kDigits[hash[i] >> 4];
    text[2 * i + 1] = kDigits[hash[i] & 0xf];
  }
  return text;
}

}  // namespace zsetd
