#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"
#include "server/engine/config/settings_file.h"

namespace zsetd {

// The text of a configuration file, changed so that it has the settings. Comments and lines with
// the right value stay unchanged; a setting that occurs several times is kept at its first
// position; settings that are missing and not at their default are appended, and so are all users.
// Relative includes are relative to `directory`, as for ReadSettings().
std::string RewriteSettings(const std::string& text, const Settings& all,
                            const std::string& directory = {});

// Rewrites a file, which is replaced completely or not at all. Fails without a change if a start
// with the new file would have other settings or users, for example because an included file
// defines users too. An error is human-readable.
absl::Status RewriteSettingsFile(const std::string& path, const Settings& settings,
                                 const std::string& directory = {});

// With `rewrite-file`, CONFIG REWRITE leaves the configuration file as it is, and writes a second
// file. A start reads it after the configuration file, and its settings have priority:
//
//   /etc/zsetd/zsetd.conf            /var/lib/zsetd/rewritten.conf
//   maxmemory 0                      maxmemory 104857600
//   rewrite-file /var/lib/...

// Writes the settings that differ from `configured`, those of the configuration file. If users
// differ, all of them are written. The file is replaced completely or not at all.
absl::Status WriteRewriteFile(const Settings& configured, const Settings& settings);

// Reads the second file, if there is one, over the settings of the file `config_file`. Its save
// points and its users replace those of `settings`; with an `aclfile` its users are ignored.
absl::Status ReadRewriteFile(const std::string& config_file, Settings& settings,
                             const OnDirective& accepted = nullptr);

}  // namespace zsetd
