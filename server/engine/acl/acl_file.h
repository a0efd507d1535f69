#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/acl/users.h"

namespace zsetd {

// Reads the users of a file into a new `users`, one a line in the form of User::Text(); empty lines
// are ignored. Users that the file lacks keep their state of a new `users`. An error is the whole
// error line and reports every bad line; `users` must then be discarded. `all_channels`:
// acl-pubsub-default.
absl::Status ReadUsersFile(const std::string& path, bool all_channels, Users& users);

// Replaces the file, completely or not at all, and keeps its permissions. An error has a
// human-readable reason.
absl::Status WriteUsersFile(const std::string& path, const Users& users);

// Like the function above, for lines of the configuration file, each as its words after `user`; an
// error is human-readable.
absl::Status ReadUserLines(const std::vector<std::vector<std::string>>& lines, bool all_channels,
                           Users& users);

}  // namespace zsetd
