#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/keyspace.h"
#include "core/time.h"

namespace zsetd {

// Something that happened to a key, named as Redis's keyspace notifications name it.
struct Change {
  int database = 0;
  std::string_view key;
  std::string_view event;  // "zadd", "del", "expired", ...
};

// One numbered database: its keys behind the one door through which they change.
//
// Invariants: no key keeps an empty aggregate; each change is reported once, after it was made;
// nothing past its deadline is seen. A key that a command comes upon past its deadline is reclaimed
// first, and reported as expired.
class Database {
 public:
  using Listener = std::function<void(const Change&)>;

  // Frees what would take long, or sees to it that it is freed.
  using Discarder = std::function<void(std::shared_ptr<void>)>;

  // Without `discarder` all is freed at once.
  Database(int index, uint64_t hash_seed, Listener listener, Discarder discarder = nullptr);

  int index() const { return index_; }
  const Keyspace& keys() const { return keys_; }

  void AdvanceTo(Millis now);
  Millis now() const { return now_; }

  // The entry at `key`, or null. Valid until the key changes. O(1).
  const Entry* Find(std::string_view key) const { return keys_.Find(key); }

  // Makes `key` hold `value` without a deadline.
  Entry& Put(std::string_view key, Value value, std::string_view event);

  // The same, but a deadline that the key has stays.
  Entry& PutKeepingDeadline(std::string_view key, Value value, std::string_view event);

  // False if there was nothing.
  bool Erase(std::string_view key, std::string_view event = "del");

  // Gives the key a deadline or, where it has passed already, erases the key. The key is there.
  void ExpireAt(std::string_view key, Millis deadline);

  // Takes the deadline away; false if there was none.
  bool Persist(std::string_view key);

  // Moves value and deadline to `target` in `destination`, over what stands there. The key is
  // there.
  void Move(std::string_view key, Database& destination, std::string_view target,
            std::string_view event_from, std::string_view event_to);

  // Copies value and deadline to `target` in `destination`, over what stands there; not onto
  // itself. The key is there.
  void Copy(std::string_view key, Database& destination, std::string_view target,
            std::string_view event);

  // Frees entries past their deadline, the longest overdue first, `most` at most. Returns how many.
  size_t ReclaimDue(size_t most);

  void Clear();  // O(1) if there is someone to free the keys

  // Exchanges the keys, not the numbers.
  void SwapKeysWith(Database& other);

  // --- For Edit: changing a value in place. ---

  // The entry at `key` to be changed; null if there is none.
  Entry* Open(std::string_view key);

  // Puts an empty value there, as yet unreported.
  Entry& Make(std::string_view key, Value empty);

  // Frees it, or has it freed; null does no harm.
  void Discard(std::shared_ptr<void> garbage);

  // Ends an edit: an emptied key goes, and if the contents changed the change is reported.
  void Settle(Entry& entry, uint32_t revision_before, std::string_view event,
              std::optional<Millis> deadline);

 private:
  Entry& Place(std::string_view key, Value value);
  void Report(std::string_view key, std::string_view event);
  void Receive(std::string_view key, Value value, std::optional<Millis> deadline,
               std::string_view event);
  void SetDeadline(Entry& entry, Millis deadline);
  void EraseEntry(Entry& entry, std::string_view event);
  void ReclaimIfDue(std::string_view key);
  void Free(std::unique_ptr<Entry> entry);

  int index_;
  Keyspace keys_;
  Listener listener_;
  Discarder discarder_;
  Millis now_{0};
};

}  // namespace zsetd
