#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// Puts a text in the place of a file, as a whole or not at all; whoever may read it is decided
// before the first byte is there. A refusal tells why, for people.
absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         std::filesystem::perms permissions);

}  // namespace zsetd
