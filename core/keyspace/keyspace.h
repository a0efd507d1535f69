#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/hashing/dictionary.h"
#include "core/hashing/key_slot.h"
#include "core/keyspace/entry.h"
#include "core/keyspace/expiry_index.h"
#include "core/keyspace/key_table.h"
#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

// The keys of one database at one instant.
//
// Invariants: an entry is in the expiry index exactly if it has a deadline. It is in a second
// index, with the earliest deadline of its elements, exactly if elements have deadlines. An entry
// past its deadline is never found, although it takes memory until it is reclaimed. The caller
// handles due elements of values. Entries are valid until they are extracted, replaced or
// reallocated. Each index has a second part, for entries that were set aside; all of them are due
// and in hidden slots.
class Keyspace {
 public:
  explicit Keyspace(uint64_t hash_seed, KeyArrangement arrangement = KeyArrangement::kWhole);

  // A moved-from keyspace is empty and keeps its current time.
  Keyspace(Keyspace&&) noexcept;
  Keyspace& operator=(Keyspace&&) noexcept;
  ~Keyspace();

  // Sets the current time. If it goes back, due entries that were not reclaimed are found again.
  void AdvanceTo(Millis now) { now_ = now; }

  // The entry at `key`, or null. O(1).
  const Entry* Find(std::string_view key) const;

  // Like Find(), but also returns an entry that is due and not yet reclaimed. `slot` is the slot of
  // the key if it is known: a keyspace that is arranged by slot then need not compute it.
  Entry* FindEvenDue(std::string_view key, KnownSlot slot = {}) { return entries_.Find(key, slot); }
  const Entry* FindEvenDue(std::string_view key) const { return entries_.Find(key); }

  // Fetches the memory that lookups of these keys will read into the cache, so that the waits
  // overlap.
  void Prefetch(std::span<const std::string_view> keys) const { entries_.Prefetch(keys); }

  bool IsDue(const Entry& entry) const { return entry.deadline() && *entry.deadline() <= now_; }

  // Inserts an entry whose key does not exist, not even as a due entry. O(1); with a deadline O(log
  // of keys with a deadline), as in the functions below.
  Entry& Insert(std::unique_ptr<Entry> entry);

  // Prepares an empty keyspace for this number of insertions; see Dictionary::Reserve and Trim.
  void Reserve(size_t entries) { entries_.Reserve(entries); }
  void Trim() { entries_.Trim(); }

  // Replaces an entry by `fresh`, which has the same key, and returns the old entry.
  std::unique_ptr<Entry> Replace(Entry& old, std::unique_ptr<Entry> fresh);

  // Removes the entry and returns it.
  std::unique_ptr<Entry> Extract(Entry& entry);

  // Sets or removes the deadline of the entry. Returns the entry, which may have been reallocated.
  Entry& SetDeadline(Entry& entry, std::optional<Millis> deadline);

  // Must be called after the value of the entry was changed in place. `before` is its
  // EarliestElementDeadline() before the change.
  void ElementDeadlineChanged(Entry& entry, std::optional<Millis> before);

  // Whether an element of the value is past its deadline. O(1), of a small value O(n).
  bool HasDueElement(const Entry& entry) const {
    if (element_deadlines_.size() == 0) return false;
    const std::optional<Millis> earliest = entry.EarliestElementDeadline();
    return earliest && *earliest <= now_;
  }

  // Whether an element of any value is past its deadline. O(1), of a small value O(n).
  bool HasDueElement() const;

  // The entry whose element has been overdue for the longest time; null if no element is due. O(1).
  Entry* FirstWithDueElement();

  // The entry that has been past its deadline for the longest time and is not reclaimed; null if no
  // entry is due. O(1).
  Entry* FirstDue();

  // Set an entry aside that the functions above have returned, and whose slot is hidden: they and
  // NextDeadline() leave it out until its slot is not hidden any more.
  void SetAsideDue(Entry& entry);
  void SetAsideDueElement(Entry& entry);

  // The earliest deadline of an entry or element; nullopt without deadlines. It may be in the past
  // until the entry or element is reclaimed. O(1).
  std::optional<Millis> NextDeadline() const;

  // The number of keys, including due keys that are not reclaimed yet. O(1).
  size_t size() const { return entries_.size(); }
  size_t with_deadline() const { return deadlines_.size() + deadlines_aside_.size(); }

  // The number of entries whose values have elements with deadlines. O(1).
  size_t with_element_deadlines() const { return with_element_deadlines_; }

  // The number of hashes among them. O(1).
  size_t hashes_with_deadlines() const { return hashes_with_deadlines_; }

  // The mean time to live of the keys with a deadline; 0 without such keys. O(1).
  Millis AverageTimeToLive() const;

  // Calls visit(const Entry&) for each entry not yet due. The keyspace must not change during the
  // call.
  template <class Visit>
  void ForEach(Visit visit) const;

  // Calls visit(length) for each chain of the hash table. O(n).
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    entries_.ForEachChain(visit);
  }

  // Calls visit(const Entry&) for the entries of the bucket at `cursor` that are not due. Returns
  // the cursor for the next call, 0 at the end. A scan from 0 to 0 visits every entry that exists
  // throughout, even if others are added or erased between the calls. It may visit an entry twice.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const;

  // Like Scan(), but also visits entries that are due and not yet reclaimed.
  template <class Visit>
  uint64_t ScanEvenDue(uint64_t cursor, Visit visit) const {
    return entries_.Scan(cursor, visit);
  }

  // See Dictionary::HasPassed.
  bool HasPassed(uint64_t cursor, std::string_view key) const {
    return entries_.HasPassed(cursor, key);
  }

  // A random entry that is neither due nor hidden; null if no such entry exists. O(1) expected,
  // unless nearly all entries are due or hidden.
  const Entry* Random(Rng& rng) const;

  // Like Random(), but returns due and hidden entries too.
  const Entry* RandomEvenDue(Rng& rng) const { return entries_.Random(rng); }

  // Like RandomEvenDue(), but returns an entry with a deadline. It may leave out those that are set
  // aside. O(blocks of the deadline index) or O(size() / with_deadline()), whichever takes less
  // time.
  const Entry* RandomWithDeadline(Rng& rng) const;

  // Calls visit(const Entry&) for `count` random entries, including due ones, or for all if there
  // are fewer. O(count). The second function samples entries with a deadline and may visit fewer.
  // If few of many keys have a deadline, it is O(blocks of the deadline index) for each.
  template <class Visit>
  void Sample(Rng& rng, size_t count, Visit visit) const;
  template <class Visit>
  void SampleWithDeadline(Rng& rng, size_t count, Visit visit) const;

  // The number of keys in a slot of a cluster, including due keys that are not reclaimed yet. Only
  // for KeyArrangement::kBySlot, like the functions below. O(1).
  size_t CountInSlot(size_t slot) const { return entries_.CountInSlot(slot); }

  // Calls visit(const Entry&) for `most` entries of a slot, even if they are due, or for all if it
  // has fewer. O(visited entries) on average.
  template <class Visit>
  void VisitInSlot(size_t slot, size_t most, Visit visit) const {
    entries_.VisitInSlot(slot, most, visit);
  }

  // Hides the keys of these slots from visible_size() and Random(); null: hides none. The flags
  // outlive this; after a change they must be passed again. A keyspace that replaces the contents
  // of this one by assignment hides the same slots. O(entries that were set aside).
  using SlotFlags = std::bitset<kSlotCount>;
  void set_hidden_slots(const SlotFlags* slots);
  bool HidesSlots() const { return hidden_slots_ != nullptr; }
  bool IsHidden(const Entry& entry) const {
    return hidden_slots_ != nullptr && (*hidden_slots_)[KeySlot(entry.key())];
  }

  // size() without the hidden keys. O(1), with hidden slots O(slots).
  size_t visible_size() const;

  // The entry with the earliest deadline, which may have passed; null if no entry has a deadline.
  // Leaves out those that were set aside. O(1).
  const Entry* FirstToExpire() const { return deadlines_.Earliest(); }

  // The memory of the key: its entry with key and value, its bucket in the dictionary and its place
  // in the deadline index. O(blocks of the value).
  size_t BytesUsedBy(const Entry& entry) const;

  // The bytes of the dictionary and of the deadline index, without the entries.
  size_t OverheadBytes() const;

  // The bytes of the dictionary alone.
  size_t TableBytes() const { return entries_.BytesUsed(); }

 private:
  void Index(Entry& entry);
  void Unindex(Entry& entry);
  void AddElementDeadline(Millis earliest, Entry& entry);
  void RemoveElementDeadline(Millis earliest, Entry& entry);
  bool AllDue() const;
  const Entry* FirstOfScan() const;

  KeyTable entries_;
  ExpiryIndex deadlines_;
  ExpiryIndex element_deadlines_;
  ExpiryIndex deadlines_aside_;
  ExpiryIndex element_deadlines_aside_;
  size_t with_element_deadlines_ = 0;
  size_t hashes_with_deadlines_ = 0;
  Millis now_{0};
  const SlotFlags* hidden_slots_ = nullptr;  // not moved with the contents
};

template <class Visit>
void Keyspace::ForEach(Visit visit) const {
  entries_.ForEach([&](const Entry& entry) {
    if (!IsDue(entry)) visit(entry);
  });
}

template <class Visit>
void Keyspace::Sample(Rng& rng, size_t count, Visit visit) const {
  entries_.Sample(rng, count, count, [&](const Entry& entry) {
    visit(entry);
    return true;
  });
}

template <class Visit>
void Keyspace::SampleWithDeadline(Rng& rng, size_t count, Visit visit) const {
  constexpr size_t kFew = 16;  // one in 16; more entries are found by random probing
  if (with_deadline() < size() / kFew) {
    for (size_t drawn = 0; drawn < std::min(count, deadlines_.size()); ++drawn) {
      visit(std::as_const(*deadlines_.Random(rng)));
    }
    return;
  }
  entries_.Sample(rng, count, count * kFew, [&](const Entry& entry) {
    const bool counts = entry.deadline().has_value();
    if (counts) visit(entry);
    return counts;
  });
}

template <class Visit>
uint64_t Keyspace::Scan(uint64_t cursor, Visit visit) const {
  return entries_.Scan(cursor, [&](const Entry& entry) {
    if (!IsDue(entry)) visit(entry);
  });
}

}  // namespace zsetd
