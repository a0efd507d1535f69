#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace zsetd {

// The mode of CLIENT TRACKING: a client is notified when keys change that it may have cached.
// Either those that it has read, or, by broadcast, all that begin with its prefixes.
struct TrackingMode {
  enum class Choice { kAllRead, kOptIn, kOptOut };  // of the keys it reads

  bool on = false;
  bool broadcast = false;
  Choice choice = Choice::kAllRead;
  bool no_loop = false;   // not of its own changes
  uint64_t redirect = 0;  // the client that is notified in its place; 0: none
  std::set<std::string> prefixes;
  size_t prefix_bytes = 0;  // that they take, here and in the tree that they are found by

  bool next_is_exception = false;  // CLIENT CACHING: to `choice`, the next command or transaction
  bool redirect_broken = false;    // `redirect` has disconnected

  // Whether the keys that its command reads are to be remembered.
  bool RemembersReads() const {
    if (!on || broadcast) return false;
    return choice == Choice::kAllRead || (choice == Choice::kOptIn) == next_is_exception;
  }
};

}  // namespace zsetd
