#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_user.h"

namespace zsetd {

// All users by name. A user stays where it is until it is removed.
//
// Invariant: there is always the user "default", which every client is at first. It may do
// everything and needs no password, unless configured otherwise.
class Users {
 public:
  using ByName = std::map<std::string, std::unique_ptr<User>, std::less<>>;

  explicit Users(const CommandTable& commands);

  const User& default_user() const { return *default_; }

  // Null if the user does not exist.
  const User* Find(std::string_view name) const;

  // The user of this name if the password is right, or null. An unknown name takes as long as a
  // known one.
  const User* Authenticate(std::string_view name, std::string_view password) const;

  // The user of this name, or a new one, with these modifiers applied; it is not installed yet. An
  // error is the whole error line. `all_channels`: acl-pubsub-default.
  absl::Status Draft(std::string_view name, Args modifiers, bool all_channels,
                     std::unique_ptr<User>& draft) const;

  // Replaces the user of the same name in place, or adds a new one.
  void Put(const User& user);

  // The default user gets this password and no other; if it is empty, it needs none (requirepass).
  void SetDefaultPassword(std::string_view password);

  // Removes and returns the user, if it exists. Not for the default user.
  std::unique_ptr<User> Remove(std::string_view name);

  const CommandTable& commands() const { return commands_; }
  const ByName& all() const { return by_name_; }

 private:
  const CommandTable& commands_;
  ByName by_name_;
  User* default_;
};

// Joins the words of each selector, "(+get" "~a)", into one. An error is the whole error line.
absl::Status JoinSelectors(Args modifiers, std::vector<std::string>& joined);

}  // namespace zsetd
