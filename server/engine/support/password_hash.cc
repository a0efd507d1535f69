#include "server/engine/support/password_hash.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

namespace zsetd {

std::string HashPassword(std::string_view password) {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(password.data()), password.size(), hash);
  std::string digits;
  for (const unsigned char byte : hash) digits += {kDigits[byte >> 4], kDigits[byte & 0xf]};
  return digits;
}

bool IsPasswordHash(std::string_view text) {
  return text.size() == 2 * SHA256_DIGEST_LENGTH && std::ranges::all_of(text, [](char digit) {
           return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
         });
}

bool EqualsInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace zsetd
