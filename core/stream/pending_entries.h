#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/stream/block_row.h"
#include "core/stream/pending_block.h"
#include "core/stream/stream_id.h"

namespace zsetd {

// The pending entries of a group in ascending order of IDs: a row of packed blocks.
//
// Invariants: no block is empty; the IDs of a block are below those of the next. Costs are for b
// blocks of at most PendingBlock::kMostEntries entries; insertions and removals of whole blocks
// inside the row move O(b) pointers.
class PendingEntries {
 public:
  class Cursor;

  PendingEntries() = default;
  PendingEntries(PendingEntries&&) = default;
  PendingEntries& operator=(PendingEntries&&) = default;

  PendingEntries Clone() const;  // O(bytes)

  size_t size() const { return size_; }
  size_t BytesUsed() const;  // O(b)

  std::optional<PendingEntry> Find(StreamId id) const;  // O(log b)

  // Entries for which this is false are ignored.
  using Counts = std::function<bool(StreamId)>;

  // Whether there are entries, from that ID on, that are idle since that time. O(b + entries that
  // are ignored).
  bool AnyIdle(Millis since, const Counts& counts, StreamId from = kFirstStreamId) const;

  // Returns the entries, from that ID on, that are idle since that time, at most `most`: the
  // released ones in the order of their release, then the others, those that have been idle for
  // longer first. O(b + n log n) for n idle entries.
  std::vector<PendingEntry> Idle(Millis since, uint64_t most, const Counts& counts,
                                 StreamId from = kFirstStreamId) const;

  // The earliest delivery after that time of an entry from that ID on. O(b + entries of some
  // blocks).
  std::optional<Millis> NextDelivery(Millis after, StreamId from = kFirstStreamId) const;

  // Precondition: there are entries. O(1).
  StreamId FirstId() const { return blocks_.front()->first(); }
  StreamId LastId() const { return blocks_.back()->last(); }

  // Inserts the entry, or replaces and returns the one with its ID. O(log b).
  std::optional<PendingEntry> Set(const PendingEntry& entry);

  // Removes the entry and returns it; nullopt if it does not exist. O(log b).
  std::optional<PendingEntry> Take(StreamId id);
  bool Erase(StreamId id) { return Take(id).has_value(); }

 private:
  // The index of the first block whose last ID is at least `id`, or the number of blocks.
  size_t BlockFor(StreamId id) const;
  void JoinIfSmall(size_t index);

  // Calls visit(const PendingEntry&) for each idle entry from that ID on, until it returns false.
  template <class Visit>
  void ForEachIdle(Millis since, const Counts& counts, StreamId from, Visit visit) const;

  BlockRow<std::unique_ptr<PendingBlock>> blocks_;
  size_t size_ = 0;
};

// A place in the entries, from an ID forward. With a consumer, it skips the entries of others, and
// blocks that have none of the consumer's. It is valid until the next change of the entries.
//
// It ends after `most` entries. Given the number of the consumer's entries, it does not search
// beyond the last of them.
class PendingEntries::Cursor {
 public:
  Cursor(const PendingEntries& entries, StreamId from,
         std::optional<uint32_t> consumer = std::nullopt, size_t most = SIZE_MAX);

  bool valid() const { return left_ > 0 && block_ < entries_->blocks_.size(); }
  const PendingEntry& entry() const { return entry_; }  // only while valid
  void Next();

 private:
  void Settle();

  const PendingEntries* entries_;
  std::optional<uint32_t> consumer_;
  size_t left_;  // entries until its end, with this one
  size_t block_;
  size_t index_ = 0;
  PendingEntry entry_;
};

}  // namespace zsetd
