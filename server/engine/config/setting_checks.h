#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// Checks of the text of settings (Setting::check). A refusal is a reason without an error code.

// IP addresses with a space between them: each may follow a minus, * and ::* are all of IPv4 and of
// IPv6; 16 at most.
absl::Status CheckAddresses(std::string_view value);

// The prefix of the names of drafts (server/persistence/file/drafts.h). A start removes drafts, so
// data files have other names.
inline constexpr std::string_view kDraftPrefix = "temp-zsetd-";

// The name of a file or a folder within a folder, not a path: dbfilename, appendfilename and
// appenddirname. The names of files do not begin with kDraftPrefix.
absl::Status CheckSnapshotName(std::string_view value);
absl::Status CheckLogFileName(std::string_view value);
absl::Status CheckLogDirectoryName(std::string_view value);

// A path from the root, or nothing: the same file for a server that changes its directory.
absl::Status CheckAbsolutePath(std::string_view value);

// The host and the port of a master, or "no one", or nothing.
absl::Status CheckMaster(std::string_view value);

// The name of the file of a cluster's nodes: not empty.
absl::Status CheckClusterFile(std::string_view value);

// The address that a node of a cluster announces: what an address may contain, or nothing.
absl::Status CheckAnnouncedIp(std::string_view value);

// A host name, or nothing.
absl::Status CheckHostname(std::string_view value);

// The name of a node in the logs of the others, or nothing.
absl::Status CheckNodeName(std::string_view value);

// Printable ASCII, one word of it at least: what a line of a log begins with.
absl::Status CheckLogName(std::string_view value);

}  // namespace zsetd
