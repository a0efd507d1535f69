#include "server/engine/config/setting_checks.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

bool IsLetterOrDigit(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

constexpr size_t kMostAddresses = 16;  // as Redis

bool IsPrintable(char byte) { return byte > ' ' && byte <= '~'; }

// An IPv6 address may name its interface: fe80::1%eth0.
bool IsAddress(std::string_view text) {
  if (text == "*" || text == "::*") return true;
  if (!std::ranges::all_of(text, IsPrintable)) return false;
  const std::string whole(text);
  const std::string without_interface(text.substr(0, text.find('%')));
  in6_addr parsed;  // room for either kind
  return inet_pton(AF_INET, whole.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, without_interface.c_str(), &parsed) == 1;
}

// The words are those of Redis.
absl::Status CheckName(std::string_view value, std::string_view why_no_path) {
  if (value.empty()) return Refusal("a file name can't be empty");
  const bool is_path = value.find('/') != std::string_view::npos || value == "." || value == "..";
  return is_path ? Refusal(why_no_path) : absl::OkStatus();
}

absl::Status CheckFileName(std::string_view value, std::string_view why_no_path) {
  if (!value.starts_with(kDraftPrefix)) return CheckName(value, why_no_path);
  return Refusal("a name that begins with " + std::string(kDraftPrefix) +
                 " is reserved for temporary files, which a start removes");
}

}  // namespace

absl::Status CheckAddresses(std::string_view value) {
  if (value.empty()) return absl::OkStatus();
  const std::vector<std::string_view> addresses = Split(value, ' ');
  if (addresses.size() > kMostAddresses) return Refusal("Too many bind addresses specified.");
  for (std::string_view address : addresses) {
    if (address.starts_with('-')) address.remove_prefix(1);
    if (!IsAddress(address)) return Refusal(Quoted(address) + " is not an IP address");
  }
  return absl::OkStatus();
}

absl::Status CheckSnapshotName(std::string_view value) {
  return CheckFileName(value, "dbfilename can't be a path, just a filename");
}

absl::Status CheckLogFileName(std::string_view value) {
  return CheckFileName(value, "appendfilename can't be a path, just a filename");
}

absl::Status CheckLogDirectoryName(std::string_view value) {
  return CheckName(value, "appenddirname can't be a path, just a dirname");
}

absl::Status CheckAbsolutePath(std::string_view value) {
  if (value.empty() || value.starts_with('/')) return absl::OkStatus();
  return Refusal("it must be an absolute path");
}

absl::Status CheckMaster(std::string_view value) {
  if (value.empty() || EqualsIgnoringCase(value, "no one")) return absl::OkStatus();
  const std::vector<std::string_view> words = Split(value, ' ');
  if (words.size() != 2) return Refusal("wrong number of arguments");
  const std::optional<int64_t> port = ParseInteger(words[1]);
  if (port && *port >= 0 && *port <= kMaxPort) return absl::OkStatus();
  return Refusal("Invalid master port");
}

absl::Status CheckLogName(std::string_view value) {
  if (!value.empty() && std::ranges::all_of(value, IsPrintable)) return absl::OkStatus();
  return Refusal("argument must be one word of printable characters");
}

absl::Status CheckClusterFile(std::string_view value) {
  return value.empty() ? Refusal("the cluster configuration file needs a name") : absl::OkStatus();
}

// It becomes a word of a line in nodes.conf, with separators around it.
absl::Status CheckAnnouncedIp(std::string_view value) {
  constexpr size_t kMostBytes = 45;  // of an IPv6 address
  const bool is_plain = std::ranges::all_of(value, [](char byte) {
    return IsLetterOrDigit(byte) || byte == '.' || byte == ':' || byte == '-';
  });
  if (is_plain && value.size() <= kMostBytes) return absl::OkStatus();
  return Refusal("the announced address must be an IP address");
}

// As in Redis.
absl::Status CheckHostname(std::string_view value) {
  constexpr size_t kMostBytes = 255;
  if (value.size() > kMostBytes) return Refusal("Hostnames must be less than 256 characters");
  const bool is_plain = std::ranges::all_of(
      value, [](char byte) { return IsLetterOrDigit(byte) || byte == '.' || byte == '-'; });
  if (is_plain) return absl::OkStatus();
  return Refusal("Hostnames may only contain alphanumeric characters, hyphens or dots");
}

// It is part of a word of nodes.conf, so separators are refused.
absl::Status CheckNodeName(std::string_view value) {
  constexpr size_t kMostBytes = 255;
  const bool is_plain = std::ranges::all_of(value, [](char byte) {
    return IsLetterOrDigit(byte) || byte == '.' || byte == '-' || byte == '_';
  });
  if (is_plain && value.size() <= kMostBytes) return absl::OkStatus();
  return Refusal("Announced human node name contained invalid character");
}

}  // namespace zsetd
