#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

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

  // Precondition: there are entries. O(1).
  StreamId FirstId() const { return blocks_.front()->first(); }
  StreamId LastId() const { return blocks_.back()->last(); }

  // Inserts the entry or replaces the one with its ID. O(log b).
  void Set(const PendingEntry& entry);

  // Returns whether the entry existed. O(log b).
  bool Erase(StreamId id);

 private:
  // The index of the first block whose last ID is at least `id`, or the number of blocks.
  size_t BlockFor(StreamId id) const;
  void JoinIfSmall(size_t index);

  std::deque<std::unique_ptr<PendingBlock>> blocks_;
  size_t size_ = 0;
};

// A place in the entries, from an ID forward. With a consumer, it skips the entries of others, and
// blocks that have none of the consumer's. It is valid until the next change of the entries.
class PendingEntries::Cursor {
 public:
  Cursor(const PendingEntries& entries, StreamId from,
         std::optional<uint32_t> consumer = std::nullopt);

  bool valid() const { return block_ < entries_->blocks_.size(); }
  const PendingEntry& entry() const { return entry_; }  // only while valid
  void Next();

 private:
  void Settle();

  const PendingEntries* entries_;
  std::optional<uint32_t> consumer_;
  size_t block_;
  size_t index_ = 0;
  PendingEntry entry_;
};

}  // namespace zsetd
