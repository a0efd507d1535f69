#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "core/util/time.h"

namespace zsetd {

// Limits attempts to log in. After ten failed logins of a user from an address there may be one in
// five seconds; the ten return in the course of fifty. Successful logins cost nothing, but while a
// login has to wait its right password is not tried either. Users do not share a limit, because
// behind a proxy all of them have its address.
//
// Keeps at most 1,024 logins, about 100 KB; those with the most failures stay longest.
class LoginThrottle {
 public:
  // An address and the name of a user. Long names that begin alike share a limit.
  class Login {
   public:
    Login(std::string_view address, std::string_view user)
        : text_(std::string(address) + ' ' + std::string(user.substr(0, kMostNameBytes))) {}
    const std::string& text() const { return text_; }

   private:
    static constexpr size_t kMostNameBytes = 64;
    std::string text_;
  };

  // How long the login has to wait before it is tried; 0: not at all. `now` never goes back. O(1).
  Micros WaitFor(const Login& login, Micros now) const;

  // The login has failed. O(1) amortized.
  void OnFailure(const Login& login, Micros now);

  size_t login_count() const { return forgotten_at_.size(); }

 private:
  void MakeRoom(Micros now);

  // When all failures of a login are forgotten, at one in five seconds.
  absl::flat_hash_map<std::string, Micros> forgotten_at_;
};

}  // namespace zsetd
