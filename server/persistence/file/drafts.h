#pragma once

#include <string>
#include <string_view>

#include "server/persistence/file/file.h"

namespace zsetd {

// The names of drafts begin so, of which a server that was killed leaves one behind.
inline constexpr std::string_view kDraftPrefix = "temp-zsetd-";

// Removes the drafts in the directory. No other server runs there.
void RemoveDrafts(FileSystem& files, const std::string& directory);

}  // namespace zsetd
