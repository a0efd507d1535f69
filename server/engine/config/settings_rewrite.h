#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The text of a configuration file, changed so that it says `settings`. Comments and lines that say
// the right thing stay as they are; a setting said several times is said where it was first; what
// the text leaves unsaid, and is not the default, is said at the end, and so are the users, anew.
std::string RewriteSettings(const std::string& text, const Settings& settings);

// The same with a file, which is replaced as a whole or not at all. A refusal tells why, for
// people.
absl::Status RewriteSettingsFile(const std::string& path, const Settings& settings);

}  // namespace zsetd
