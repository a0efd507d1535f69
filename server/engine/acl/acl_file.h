#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/acl/users.h"

namespace zsetd {

// The users of a file, one a line as User::Text() has them; empty lines are nothing. What is not
// there is as in a new `users`, which is where they go. An error is the whole error line and
// reports every bad line; `users` is then of no use. `all_channels`: acl-pubsub-default.
absl::Status ReadUsersFile(const std::string& path, bool all_channels, Users& users);

// Replaces the file, completely or not at all. An error has a human-readable reason.
absl::Status WriteUsersFile(const std::string& path, const Users& users);

// The same for lines of the configuration file, each as its words after `user`; an error is
// human-readable.
absl::Status ReadUserLines(const std::vector<std::vector<std::string>>& lines, bool all_channels,
                           Users& users);

}  // namespace zsetd
