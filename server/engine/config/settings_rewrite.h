#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The text of a configuration file, changed so that it has `settings`. Comments and lines with the
// right value stay unchanged; a setting that occurs several times is kept at its first position;
// settings that are missing and not at their default are appended, and so are all users.
std::string RewriteSettings(const std::string& text, const Settings& settings);

// Rewrites a file, which is replaced completely or not at all. An error is human-readable.
absl::Status RewriteSettingsFile(const std::string& path, const Settings& settings);

}  // namespace zsetd
