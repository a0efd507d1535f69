#pragma once

#include <cassert>
#include <string>

namespace zsetd {

class User;

// The identity of a client: the user whose permissions it has, and the names that it has set.
class ClientIdentity {
 public:
  // Set as long as the client is attached.
  const User* user() const { return user_; }

  // Whether it has been let in: by a password, or because the default user needs none.
  bool authenticated() const { return authenticated_; }

  std::string name;      // CLIENT SETNAME
  std::string lib_name;  // CLIENT SETINFO, as the next
  std::string lib_version;

 private:
  friend class AccessControl;
  const User* user_ = nullptr;
  bool authenticated_ = true;
};

}  // namespace zsetd
