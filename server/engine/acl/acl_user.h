#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_selector.h"

namespace zsetd {

// A user and its permissions. Passwords are stored only as SHA-256.
//
// A new user is off, has no password and may do nothing.
class User {
 public:
  // `all_channels`: it may at least use every channel (acl-pubsub-default).
  User(std::string name, const CommandTable& commands, bool all_channels);

  const std::string& name() const { return name_; }

  // Applies one modifier of ACL SETUSER. An error has the wording of Redis, without an error code;
  // nothing changes then. `all_channels` is the default after a reset, as in the constructor.
  absl::Status Apply(std::string_view modifier, bool all_channels);

  // Whether the password is valid. The time does not depend on the stored passwords.
  bool Admits(std::string_view password) const;

  bool enabled() const { return enabled_; }
  bool takes_any_password() const { return any_password_; }

  // Whether everything is allowed; then Check() is not necessary. O(1).
  bool MayDoAll() const { return may_do_all_; }

  // The reason why the request is denied, or nullopt. Precondition: its arity was checked. With
  // several selectors, returns the most specific denial.
  std::optional<Denial> Check(const Command& command, Args argv) const;

  // Whether rules that allow the request also allow to read every key.
  bool MayReadAllKeysIn(const Command& command, Args argv) const;

  const AclSelector& root() const { return root_; }
  const std::vector<AclSelector>& selectors() const { return selectors_; }  // except the root
  std::vector<const AclSelector*> AllSelectors() const;

  const std::vector<std::string>& password_hashes() const {
    return password_hashes_;
  }  // hex digits
  std::vector<std::string_view> Flags() const;

  // The user in one line, as in ACL LIST and files: "user alice on ~* &* +@all".
  std::string Text() const;

 private:
  bool ApplyFlag(std::string_view modifier, bool all_channels);
  void Reset(bool all_channels);
  absl::Status AddPassword(std::string_view hash);
  absl::Status RemovePassword(std::string_view hash);
  absl::Status ApplyPassword(std::string_view modifier);
  absl::Status AddSelector(std::string_view text, bool all_channels);

  std::string name_;
  const CommandTable* commands_;
  bool enabled_ = false;
  bool any_password_ = false;
  bool skips_sanitizing_ = false;  // listed and stored only: payloads are always fully checked
  bool may_do_all_ = false;
  std::vector<std::string> password_hashes_;
  AclSelector root_;
  std::vector<AclSelector> selectors_;
};

}  // namespace zsetd
