#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// Replaces a file by a text, completely or not at all; its permissions are set before the first
// byte is written. An error has a human-readable reason.
absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         std::filesystem::perms permissions);

}  // namespace zsetd
