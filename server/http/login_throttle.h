#pragma once

#include <cstddef>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "core/util/time.h"

namespace zsetd {

// Slows down whoever tries passwords: after ten failed logins an address may try once in five
// seconds, and gets the ten back in the course of fifty. Successful logins cost nothing, but while
// an address has to wait its right passwords are not tried either.
//
// Keeps at most 1,024 addresses, about 100 KB; those with the most failures stay longest.
class LoginThrottle {
 public:
  // For how long the address has to wait before a login is tried; 0: not at all. `now` never goes
  // back. O(1).
  Micros WaitFor(const std::string& address, Micros now) const;

  // A login from the address has failed. O(1) amortized.
  void OnFailure(const std::string& address, Micros now);

  size_t address_count() const { return forgotten_at_.size(); }

 private:
  void MakeRoom(Micros now);

  // When all failures of an address are forgotten, at one in five seconds.
  absl::flat_hash_map<std::string, Micros> forgotten_at_;
};

}  // namespace zsetd
