#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/util/time.h"
#include "server/engine/acl/acl_selector.h"

namespace zsetd {

// The last refusals, the newest first (ACL LOG). One that is like another of the last minute is
// counted with it.
class AclLog {
 public:
  struct Entry {
    uint64_t id = 0;
    uint64_t count = 1;
    Denial::Reason reason;
    DenialContext context;
    std::string object;  // the command, the key or the channel
    std::string user;
    std::string client;  // ClientLine(), without its line feed
    Millis created{0};
    Millis updated{0};

    bool IsLike(const Entry& other) const;
  };

  // `entry` is what happened at its `updated`. Keeps `most` entries.
  void Add(Entry entry, size_t most);
  void Reset() { entries_.clear(); }

  const std::deque<Entry>& entries() const { return entries_; }

 private:
  std::deque<Entry> entries_;
  uint64_t next_id_ = 0;
};

}  // namespace zsetd
