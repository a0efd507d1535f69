#include "server/engine/command/redaction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr std::string_view kRedacted = "(redacted)";
constexpr size_t kAllSecret = SIZE_MAX;

// The number of secret arguments after this one: HELLO 3 AUTH user password, CONFIG SET requirepass
// x, and users that an administrator creates, changes or inspects.
size_t SecretsBehind(std::string_view word) {
  if (EqualsIgnoringCase(word, "auth")) return 2;
  for (const std::string_view about_users : {"setuser", "deluser", "getuser"}) {
    if (EqualsIgnoringCase(word, about_users)) return kAllSecret;
  }
  const bool is_setting =
      EqualsIgnoringCase(word, "requirepass") || EqualsIgnoringCase(word, "tls-key-file-pass");
  return is_setting ? 1 : 0;
}

}  // namespace

std::vector<std::string_view> WithoutSecrets(const Command& command, Words words) {
  std::vector<std::string_view> told(words.begin(), words.end());
  if (!command.Has(kSecretWords)) return told;
  for (size_t at = 0; at < words.size();) {
    const size_t secrets = std::min(SecretsBehind(words[at]), words.size() - at - 1);
    std::fill_n(told.begin() + static_cast<std::ptrdiff_t>(at) + 1, secrets, kRedacted);
    at += 1 + secrets;
  }
  return told;
}

}  // namespace zsetd
