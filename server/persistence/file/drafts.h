#pragma once

#include <string>
#include <string_view>

#include "server/persistence/file/file.h"

namespace zsetd {

// The prefix of the names of drafts. A server that is killed may leave a draft in the directory.
inline constexpr std::string_view kDraftPrefix = "temp-zsetd-";

// Removes the drafts in the directory. Precondition: no other server uses the directory.
void RemoveDrafts(FileSystem& files, const std::string& directory);

}  // namespace zsetd
