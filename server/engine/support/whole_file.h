#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// Replaces the file at `path` by `text`, completely or not at all: the text is written to a new
// file next to it, which is synced and renamed over the old one, and the directory is synced. When
// this returns OK the new text survives a power failure; while it runs, and after an error or a
// crash, the path holds the old text or the new one, complete. A symbolic link is followed, so that
// the file it points to is replaced and the link stays.
//
// The file gets these permissions before its first byte is written. Costs two syncs to disk. The
// refusal states the failed step and the system's reason; the new file has then been removed.
absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         std::filesystem::perms permissions);

// Returns the permissions of the file, or of its target if it is a link. If it does not exist: only
// the owner may read and write it.
std::filesystem::perms PermissionsOf(const std::string& path);

// More than any configuration or list of users has. A device may have no end.
inline constexpr size_t kMostTextFileBytes = size_t{64} << 20;

// Returns the contents of a file. A refusal has the reason only, as strerror() words it if the
// system gave it.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

}  // namespace zsetd
