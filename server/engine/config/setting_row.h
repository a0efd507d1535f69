#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// One row of the table of settings: how a field of Settings is named, read and written. The
// configuration file, the command line and CONFIG all go by it.
struct Setting {
  using Field = std::variant<int64_t Settings::*, bool Settings::*, std::string Settings::*,
                             OutputLimits Settings::*, KeyspaceEventFlags Settings::*,
                             Percentiles Settings::*>;

  std::string_view name;           // redis.conf's
  std::string_view old_name = {};  // by which Redis knew it before version 7
  Field field;

  // For integers, both inclusive.
  int64_t min = 0;
  int64_t max = 0;
  bool is_size = false;     // in bytes, and may be written as 64mb
  bool or_percent = false;  // or as 5%, which is kept as -5
  bool is_tls_file = false;
  bool is_octal = false;  // read and written in octal, as file permissions are

  // For text: the only values allowed, if there are any, and why there are no others.
  std::span<const std::string_view> choices = {};
  std::string_view why_no_other = {};

  bool changes_live = false;   // may change while the server runs, and takes effect at once
  bool changes_later = false;  // only at the next start; to set what is set already does no harm
  bool is_protected = false;   // CONFIG SET needs enable-protected-configs
  bool many_words = false;     // in a file and on the command line
};

// The value as in CONFIG GET, which SetValue() reads back.
std::string ValueOf(const Setting& setting, const Settings& settings);

// Reads the value into its field. A refusal says what is wrong with it, in Redis's words, without
// an error code; `settings` is then as before.
absl::Status SetValue(const Setting& setting, Settings& settings, std::string_view value);

}  // namespace zsetd
