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
#include <variant>

#include "core/sorted_set/timed_score_range.h"
#include "core/util/time.h"
#include "server/engine/client/blocked_command.h"

namespace zsetd {

class Client;

// The clients that are blocked on keys, in the order in which they blocked.
//
// A key is ready when it has changed. Clients whose waits are timed (Wait::IsTimed) form a group
// with all that wait for the same range of scores, or the same claim, of the same key: if the first
// of them cannot be served, none can. A group has a due time, at which the key is ready without
// having changed.
//
//   key ──► any       10, 17, 18               each is asked whether the key serves it
//       └─► groups    -inf..now    11, 12      the first of each is asked
//                     -inf..100    15
//                     g, 1000 ms   13, 14
//
// Invariants: it has exactly the clients whose `blocked` is set, for every key of it; `by_first` of
// a key has exactly its groups, none of which is empty.
class BlockedClients {
 public:
  using Key = BlockedCommand::Key;

  // The bytes that a wait for a key of this name takes, its words left out.
  static size_t BytesPerKey(size_t name_bytes);

  // The additional bytes of a timed wait.
  static size_t BytesPerGroup(size_t name_bytes);

  void Add(Client& client, BlockedCommand wait);
  void Remove(Client& client);  // and its wait; does no harm if it has none

  // The key has changed: it is ready, if anyone waits for it.
  void Touch(int database, std::string_view key);

  // Any key of the database may have.
  void TouchAll(int database);

  // Marks the key with the earliest due time as ready if that is not after `now`; false if no key
  // is due.
  bool TouchDue(Millis now);
  bool IsDue(Millis now) const { return !by_due_.empty() && by_due_.begin()->first.first <= now; }

  // When the first key is ready that does not change before; nothing if none will be.
  std::optional<Millis> NextDue() const;

  // Whether a key is ready.
  bool HasReady() const { return !is_ready_.empty(); }

  // The key that has been ready for the longest time, which then no longer is. The groups that
  // Defer() left out are back.
  std::optional<Key> TakeReady();

  // The first client to ask that blocked on the key after the one of that number; or null. O(log n)
  // for n waits, amortised over those of a key.
  Client* NextFor(const Key& key, uint64_t after) const;

  // The key cannot serve the client, whose wait is timed: its group is left out by NextFor() until
  // a key is taken again, and due at `due`, or never.
  void Defer(Client& client, const Key& key, std::optional<Millis> due);

  // The key does not exist: until it changes none of its groups is due.
  void ClearDue(const Key& key);

  // The first whose wait is to end by `now`; or null.
  Client* FirstDue(Millis now) const;
  std::optional<Millis> NextDeadline() const;

  // Whether a client waits that must be served when its key is deleted (Wait::EndsWithoutKey).
  bool HasWaitEndingWithoutKey() const { return ending_without_key_ > 0; }

  size_t count() const { return count_; }
  size_t with_deadline() const { return by_deadline_.size(); }
  size_t key_count() const { return by_key_.size(); }  // waited for

 private:
  using Waiting = std::map<uint64_t, Client*>;  // by the numbers of their waits
  using GroupName = std::variant<TimedScoreRange, GroupClaim>;

  struct Group {
    uint64_t number = 0;  // groups that are due in the same millisecond become ready in this order
    Waiting waiting;
    std::optional<Millis> due;
    uint64_t deferred_in = 0;  // the pass in which it is left out
  };
  struct Waits {
    Waiting any;
    std::map<GroupName, Group> groups;
    std::map<uint64_t, Group*> by_first;  // the groups, by the least numbers of their waits

    bool empty() const { return any.empty() && by_first.empty(); }
  };

  // The name of the group of a timed wait.
  static GroupName NameOf(const Wait& wait);

  void SetDue(const Key& key, Group& group, std::optional<Millis> due);
  void RemoveFrom(const Key& key, const BlockedCommand& wait);
  void RemoveFromGroup(const Key& key, Waits& waits, const BlockedCommand& wait);

  std::map<Key, Waits> by_key_;
  std::set<std::pair<Millis, Client*>> by_deadline_;
  std::map<std::pair<Millis, uint64_t>, Key> by_due_;  // by the numbers of groups
  std::deque<Key> ready_;
  std::set<Key> is_ready_;
  size_t count_ = 0;
  size_t ending_without_key_ = 0;
  uint64_t last_number_ = 0;
  uint64_t last_group_ = 0;
  uint64_t pass_ = 0;
};

}  // namespace zsetd
