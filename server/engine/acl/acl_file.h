#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/acl/users.h"

namespace zsetd {

// The users of a file, one a line as User::Text() has them; empty lines are nothing. What is not
// there is as in a new `users`, which is where they go. A refusal is the whole error line and tells
// of every bad line; `users` is then of no use. `all_channels`: acl-pubsub-default.
absl::Status ReadUsersFile(const std::string& path, bool all_channels, Users& users);

// Replaces the file, as a whole or not at all. A refusal tells why, for people.
absl::Status WriteUsersFile(const std::string& path, const Users& users);

// The same for lines of the configuration file, each as its words behind `user`; a refusal is for
// people.
absl::Status ReadUserLines(const std::vector<std::vector<std::string>>& lines, bool all_channels,
                           Users& users);

}  // namespace zsetd
