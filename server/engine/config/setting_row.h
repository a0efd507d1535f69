#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// In place of a field, for a setting of Redis or Valkey that has no effect here: what it is given
// is checked, kept in Settings::without_effect, shown, and named in one warning at the start.
struct NoEffect {
  enum class Kind { kYesNo, kInteger, kText };
  Kind kind = Kind::kText;
  std::string_view default_value;  // as CONFIG GET shows it
};

// One row of the table of settings: the name of a field of Settings, and how it is read and
// written. The configuration file, the command line and CONFIG all go by it.
struct Setting {
  using Field =
      std::variant<int64_t Settings::*, bool Settings::*, std::string Settings::*,
                   OutputLimits Settings::*, KeyspaceEventFlags Settings::*,
                   Percentiles Settings::*, SavePoints Settings::*, ShutdownOptions Settings::*,
                   LogLevel Settings::*, SyslogFacility Settings::*, Supervision Settings::*,
                   TlsAuthClients Settings::*, AclPubsubDefault Settings::*,
                   DangerousAccess Settings::*, MaxmemoryPolicy Settings::*,
                   AppendFsync Settings::*, DisklessLoad Settings::*, RedisRelease Settings::*,
                   ClusterEndpointType Settings::*, NoEffect>;

  std::string_view name;        // redis.conf's
  std::string_view alias = {};  // another name that it goes by, such as that of Redis before 7
  Field field;

  // For integers, both inclusive.
  int64_t min = 0;
  int64_t max = 0;
  int64_t least_used = std::numeric_limits<int64_t>::min();  // in place of lower ones
  int64_t most_used = std::numeric_limits<int64_t>::max();   // in place of higher ones
  bool is_size = false;                                      // in bytes, and may be written as 64mb
  bool or_percent = false;                                   // or as 5%, which is kept as -5
  bool is_tls_file = false;
  bool is_octal = false;  // read and written in octal, as file permissions are

  // For text: the only allowed values or words; empty: any. A refusal names them, as it names the
  // bounds of numbers.
  std::span<const std::string_view> choices = {};
  std::string_view why_no_other = {};

  // For text: what else must hold of a value, which has no NUL unless it is a secret. Null:
  // nothing. The reason is without an error code.
  absl::Status (*check)(std::string_view value) = nullptr;

  bool changes_live = false;   // may change while the server runs, and takes effect immediately
  bool changes_later = false;  // only at the next start; setting the present value is accepted
  bool is_protected = false;   // CONFIG SET needs enable-protected-configs
  bool many_words = false;     // in a file and on the command line; kept with a space between them
  bool is_secret = false;      // a password, which is not shown to others

  bool HasEffect() const { return !std::holds_alternative<NoEffect>(field); }
};

// The value as in CONFIG GET, which SetValue() reads back.
std::string ValueOf(const Setting& setting, const Settings& settings);

// Reads the value into its field. QuoteWord() writes every accepted value into a file so that it is
// read back as the same value, whatever bytes it has. A refusal states the reason in Redis's words,
// without an error code; `settings` is then unchanged.
absl::Status SetValue(const Setting& setting, Settings& settings, std::string_view value);

}  // namespace zsetd
