#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/string/byte_string.h"
#include "core/util/time.h"
#include "server/engine/store/key_event.h"

namespace zsetd {

class AccessTracker;
class KeyspaceSnapshot;
class DatasetSnapshot;
struct HashLimits;
struct ListLimits;
struct SetLimits;
struct SortedSetLimits;
struct StreamLimits;
struct ValueLimits;

// Something that happened to a key.
struct Change {
  int database = 0;
  std::string_view key;
  KeyEvent event = KeyEvent::kNone;
  bool is_new = false;  // the key was not there before

  // False if only the groups or the state of a stream changed. Like Redis, watches and client
  // tracking ignore such a change.
  bool is_content = true;

  // The number of changes since the last save that it counts as, as in Redis: one for each element.
  // 0 if it follows from another change or from the passing of time.
  uint64_t count = 1;

  // The elements that are past their deadline and were removed (KeyEvent::kZExpired,
  // KeyEvent::kHExpired).
  std::span<const std::string> expired_elements = {};

  // The members or fields that were added, changed or removed, in this order, if a listener wants
  // them. Valid during the call.
  std::span<const std::string> subkeys = {};
};

// One numbered database: its keys behind the one door through which they change.
//
// Invariants: no key keeps an empty aggregate, except a stream; each change is reported once, after
// it was made; nothing past its deadline is visible, except elements on a replica. A key that a
// command finds past its deadline is reclaimed first, and reported as expired; so are the elements
// of its value that are past theirs.
class Database {
 public:
  using Listener = std::function<void(const Change&)>;

  // Frees a large object or passes it to another thread: `bytes` is about its size, and `objects`
  // the number of values.
  using FreeInBackground = std::function<void(std::shared_ptr<void>, size_t bytes, size_t objects)>;

  // Without `free_in_background` all is freed at once, and without `access_tracker`, which outlives
  // the database, it is not noted how keys are used.
  Database(int index, uint64_t hash_seed, Listener listener,
           FreeInBackground free_in_background = nullptr, AccessTracker* access_tracker = nullptr,
           KeyArrangement arrangement = KeyArrangement::kWhole);

  int index() const { return index_; }

  // See Keyspace::set_hidden_slots().
  void set_hidden_slots(const Keyspace::SlotFlags* slots) { keys_.set_hidden_slots(slots); }

  const Keyspace& keys() const { return keys_; }

  // Whether a listener wants the subkeys of changes with this event; null if no listener wants any.
  using WantsSubkeys = std::function<bool(KeyEvent event)>;
  void set_wants_subkeys(WantsSubkeys wants) { wants_subkeys_ = std::move(wants); }
  bool TakesSubkeys(KeyEvent event) const {
    return wants_subkeys_ != nullptr && wants_subkeys_(event);
  }

  // The limits up to which values have the encodings of small ones. The object outlives the
  // database, and its contents may change. Initially the default settings.
  void set_limits(const ValueLimits& limits) { limits_ = &limits; }
  const ValueLimits& limits() const { return *limits_; }
  const ListLimits& list_limits() const;
  const HashLimits& hash_limits() const;
  const SetLimits& set_limits() const;
  const SortedSetLimits& sorted_set_limits() const;
  const StreamLimits& stream_limits() const;

  void AdvanceTo(Millis now);
  Millis now() const { return now_; }

  // Whether some element may be past its deadline. False negatives are possible for elements from
  // other databases or files until the time advances. O(1).
  bool may_have_due_elements() const { return may_have_due_elements_; }

  // The entry at `key`, or null. Valid until the key changes. Its value may have elements that are
  // due. O(1).
  const Entry* Find(std::string_view key) const { return keys_.Find(key); }

  // Whether a lookup counts as a use of the key, for eviction.
  enum class Touch : bool { kNo, kYes };

  // Like Find(), and records the use. Due elements are reclaimed first. Here and below, `slot` is
  // the slot of the key if it is known.
  const Entry* Use(std::string_view key, Touch touch = Touch::kYes, KnownSlot slot = {});

  // Like Use(), while other threads use the database in the same way. If an element is due, changes
  // nothing, sets `must_change` and returns null.
  const Entry* UseShared(std::string_view key, Touch touch, KnownSlot slot, bool& must_change);

  // Like Use(), to be changed. One that is due is reclaimed first. The calls below that take an
  // entry take one that this gave.
  Entry* Open(std::string_view key, Touch touch = Touch::kYes, KnownSlot slot = {});

  // Makes `key` hold `value`, with this deadline or none; `count` is Change::count. The encoding of
  // a list or sorted set is settled by its size; a set has been given one as it was filled.
  void Put(std::string_view key, Value&& value, KeyEvent event,
           std::optional<Millis> deadline = std::nullopt, uint64_t count = 1,
           Touch touch = Touch::kYes, KnownSlot slot = {});

  // Like Put(), but keeps the deadline of the key.
  void PutKeepingDeadline(std::string_view key, Value&& value, KeyEvent event,
                          Touch touch = Touch::kYes, KnownSlot slot = {});

  // Puts the entry, with its deadline and its access stamp, replacing any value at its key. It is
  // reported as a new key.
  void Put(std::unique_ptr<Entry> entry, KeyEvent event);

  // False if there was nothing.
  bool Erase(std::string_view key, KeyEvent event = KeyEvent::kDel, KnownSlot slot = {});

  // Sets the key's deadline or, if it has already passed, erases the key. The entry may have
  // another address then.
  void ExpireAt(Entry& entry, Millis deadline) { ExpireAt(entry, deadline, 1); }

  // Removes the deadline; false if the key has none.
  bool Persist(Entry& entry);

  // Moves value and deadline to `target` in `destination`, replacing any value; not onto itself.
  // Reports the new key first, as Redis does.
  void Move(Entry& entry, Database& destination, std::string_view target, KeyEvent event_from,
            KeyEvent event_to);

  // Copies value and deadline to `target` in `destination`, replacing any value; not onto itself.
  void Copy(const Entry& entry, Database& destination, std::string_view target, KeyEvent event);

  // Erases the key to free memory; it exists, or is due and not freed yet.
  void Evict(std::string_view key) { EraseEntry(*keys_.FindEvenDue(key), KeyEvent::kEvicted, 0); }

  // Frees entries past their deadline, the longest overdue first, `most` at most. Returns how many.
  // Here and below, entries of hidden slots count, but are only set aside: the node that they come
  // from decides when they expire.
  size_t ReclaimDue(size_t most);

  // Removes elements past their deadline, of the key with the longest overdue one first, `most` at
  // most. Returns how many.
  size_t ReclaimDueElements(size_t most);

  // Whether elements of the value at `key` are past their deadline, and not the key itself, and are
  // to be reclaimed. O(1), of a small value O(n).
  bool HasDueElement(std::string_view key) const;

  // Removes elements past their deadline from the value at `key`, `most` at most and not none.
  // Returns how many.
  size_t ReclaimDueElementsOf(std::string_view key, size_t most);

  // Like `ReclaimDueElementsOf()`, but also removes elements that a replica keeps.
  size_t ReclaimKeptElementsOf(std::string_view key, size_t most);

  void Clear();  // O(1) if there is someone to free the keys

  // Whether due elements stay until a request removes them, as on a replica, whose master decides.
  void set_keeps_due_elements(bool keeps) { keeps_due_elements_ = keeps; }

  // Exchanges the keys, not the numbers.
  void SwapKeysWith(Database& other);

  // A keyspace without keys that Adopt() takes, to be filled by a loader.
  Keyspace MakeKeyspace() const { return Keyspace(hash_seed_, arrangement_); }

  // Makes these the keys of the database, in place of those it had. None is reported.
  void Adopt(Keyspace keys);

  // The snapshot that is being taken, and that of these keys; null if there is none, or the keys
  // have been passed. They outlive this, or are taken away.
  void set_snapshot(DatasetSnapshot* snapshot) { snapshot_ = snapshot; }
  void set_keyspace_snapshot(KeyspaceSnapshot* snapshot) { keyspace_snapshot_ = snapshot; }

  // For Edit, and within: the entry is about to change.
  void BeforeChange(const Entry& entry) {
    if (keyspace_snapshot_ != nullptr) [[unlikely]]
      Capture(entry);
  }

  // --- For Edit: changing a value in place. ---

  // Creates a key with the value; not reported yet.
  Entry& Make(std::string_view key, Value&& value);

  // Frees it, or has it freed; null is allowed. `bytes` is 0 if its size is unknown.
  void FreeLater(std::shared_ptr<void> garbage, size_t bytes = 0, size_t objects = 1);

  // Like the function above, for objects that no snapshot needs.
  void FreeNow(std::shared_ptr<void> garbage, size_t bytes, size_t objects);

  // The earliest deadline of the value's elements, and that it was `before` until the value was
  // changed in place. O(1), of a small value O(n); where no value has such deadlines, the first is
  // but a test.
  std::optional<Millis> EarliestElementDeadline(const Entry& entry) const {
    if (keys_.with_element_deadlines() == 0) [[likely]]
      return std::nullopt;
    return entry.EarliestElementDeadline();
  }
  void ElementDeadlineChanged(Entry& entry, std::optional<Millis> before) {
    keys_.ElementDeadlineChanged(entry, before);
  }

  // Ends an edit: an emptied key is erased, and if the contents changed the change is reported.
  struct EditResult {
    bool changed = false;
    uint64_t count = 0;  // Change::count
    bool is_new = false;
    std::optional<Millis> deadline = std::nullopt;
    std::span<const std::string> subkeys = {};  // Change::subkeys
    bool is_content = true;                     // Change::is_content
  };
  void Settle(Entry& entry, KeyEvent event, const EditResult& outcome);

  // Change a string and report it. They return the entry that the key has then; a deadline stays.
  Entry& Assign(Entry& entry, Value&& value, KeyEvent event);
  Entry& Append(Entry& entry, std::string_view bytes, KeyEvent event);

  // Overwrites the string at `offset` with `bytes`, padding with zero bytes as needed.
  Entry& Overwrite(Entry& entry, size_t offset, std::string_view bytes, KeyEvent event);

  // Grows the string with zero bytes so that it has these ranges, if it is shorter, and lets
  // `write` write over them; it is handed all bytes. Reported if `write`, which returns its number
  // of changes, made any. Otherwise a string that grew is not reported, except as a new key.
  using WriteBytes = std::function<uint64_t(std::span<char>)>;
  Entry& Rewrite(Entry& entry, std::span<const ByteRange> ranges, const WriteBytes& write,
                 KeyEvent event, bool is_new);

  // Lets `change` change the text of the string, also its length. Reported if `change`, which
  // returns its number of changes, made any.
  using ChangeBytes = std::function<uint64_t(std::string&)>;
  Entry& ChangeText(Entry& entry, const ChangeBytes& change, KeyEvent event, bool is_new);

 private:
  std::unique_ptr<Entry> New(std::string_view key, Value&& value, std::optional<Millis> deadline);
  void MarkNew(Entry& entry) const;
  void Report(std::string_view key, KeyEvent event, bool is_new = false, uint64_t count = 1);
  void ReportUncounted(std::string_view key, KeyEvent event);
  Entry& Place(std::unique_ptr<Entry> entry);
  void ExpireAt(Entry& entry, Millis deadline, uint64_t count);
  Entry& Replace(Entry& entry, Value&& value, std::optional<Millis> deadline);
  void SettleEncoding(Value& value) const;
  template <class Change>
  Entry& EditText(Entry& entry, std::span<const ByteRange> ranges, Change change);
  size_t ReclaimElements(Entry& entry, size_t most);
  void EraseEntry(Entry& entry, KeyEvent event, uint64_t count);
  void Free(std::unique_ptr<Entry> entry);
  void Capture(const Entry& entry);
  Entry& Insert(std::unique_ptr<Entry> entry);

  int index_;
  uint64_t hash_seed_;
  KeyArrangement arrangement_;
  Keyspace keys_;
  Listener listener_;
  WantsSubkeys wants_subkeys_;
  const ValueLimits* limits_;
  FreeInBackground free_in_background_;
  AccessTracker* access_tracker_;  // null: no tracking
  bool keeps_due_elements_ = false;
  DatasetSnapshot* snapshot_ = nullptr;
  KeyspaceSnapshot* keyspace_snapshot_ = nullptr;
  Millis now_{0};
  bool may_have_due_elements_ = false;
};

}  // namespace zsetd
