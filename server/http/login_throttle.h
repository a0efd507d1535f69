#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "core/util/time.h"

namespace zsetd {

// Limits failed logins. A user at an address may fail ten times; after that, one more login is
// allowed every five seconds. The allowance of ten is complete again after fifty seconds.
// Successful logins do not count. While a login must wait, even the right password is not tried.
// Users have separate limits, because behind a proxy all of them have the same address.
//
// Keeps at most 1,024 logins, about 100 KB. Logins with the most failures are kept longest.
class LoginThrottle {
 public:
  // An address and a user name. Long names with the same beginning share a limit.
  class Login {
   public:
    Login(std::string_view address, std::string_view user)
        : text_(std::string(address) + ' ' + std::string(user.substr(0, kMostNameBytes))) {}
    const std::string& text() const { return text_; }

   private:
    static constexpr size_t kMostNameBytes = 64;
    std::string text_;
  };

  // Returns the time that the login must wait; 0 if it may be tried now. `now` never decreases.
  // O(1).
  Micros WaitFor(const Login& login, Micros now) const;

  // Records a failure of the login. O(1) amortized.
  void OnFailure(const Login& login, Micros now);

  size_t login_count() const { return forgotten_at_.size(); }

 private:
  void MakeRoom(Micros now);

  // When all failures of a login are forgotten. Each takes five seconds.
  absl::flat_hash_map<std::string, Micros> forgotten_at_;
};

}  // namespace zsetd
