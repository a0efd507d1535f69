#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/util/time.h"
#include "server/engine/client/blocked_command.h"

namespace zsetd {

class Client;

// The clients that are blocked on keys, in the order in which they blocked.
//
// Invariant: it has exactly the clients whose `wait` is set, for every key of it.
class BlockedClients {
 public:
  using Key = BlockedCommand::Key;

  // The bytes that a wait for a key of this name takes, its words left out.
  static size_t BytesPerKey(size_t name_bytes);

  void Add(Client& client, BlockedCommand wait);
  void Remove(Client& client);  // and its wait; does no harm if it has none

  // The key has changed: it is ready, if anyone waits for it.
  void Touch(int database, std::string_view key);

  // Any key of the database may have.
  void TouchAll(int database);

  // The key that has been ready for the longest time, which then no longer is.
  std::optional<Key> TakeReady();

  // The first client blocked on the key after the one of that number; or null.
  Client* NextFor(const Key& key, uint64_t after) const;

  // The first whose wait is to end by `now`; or null.
  Client* FirstDue(Millis now) const;
  std::optional<Millis> NextDeadline() const;

  size_t count() const { return count_; }
  size_t with_deadline() const { return by_deadline_.size(); }
  size_t key_count() const { return by_key_.size(); }  // waited for

 private:
  using Waiting = std::map<uint64_t, Client*>;  // by the numbers of their waits

  std::map<Key, Waiting> by_key_;
  std::set<std::pair<Millis, Client*>> by_deadline_;
  std::deque<Key> ready_;
  std::set<Key> is_ready_;
  size_t count_ = 0;
  uint64_t last_number_ = 0;
};

}  // namespace zsetd
