#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/stream/consumer_group.h"
#include "core/stream/producers.h"
#include "core/stream/stream_block.h"
#include "core/stream/stream_id.h"
#include "core/stream/stream_snapshot.h"

namespace zsetd {

// Up to which size entries are added to a block: stream-node-max-entries and
// stream-node-max-bytes, with the header, because allocators have a size of 4096 bytes but no
// slightly larger one. 0: no limit. And the limits of producers' IDs in a stream that has had none
// so far: stream-idmp-duration and stream-idmp-maxsize.
struct StreamLimits {
  size_t entries = 100;
  size_t bytes = 4096;
  Producers::Limits producers;
};

// Which entries XTRIM, or XADD, removes: the oldest ones, until `length` are left or all are at or
// above `least_id`. An approximate trim removes whole blocks only, and at most `most` entries.
struct StreamTrim {
  enum class By { kLength, kId };

  By by = By::kLength;
  uint64_t length = 0;
  StreamId least_id;
  bool approximate = false;
  uint64_t most = 0;  // 0: no limit
};

// The first entries from `first` to `last`, at most `most`; backward, the last ones.
struct StreamRange {
  StreamId first = kFirstStreamId;
  StreamId last = kLastStreamId;
  uint64_t most = UINT64_MAX;
  bool backward = false;
};

// Entries with ascending IDs, each with a list of fields, and groups that read them. A row of
// packed blocks:
//
//   [ block | block | ... | block with room ]     each up to StreamLimits
//
// IDs only grow, so the row needs neither a tree nor a skip list: entries are appended to the last
// block, old entries are trimmed from the first, and an ID is found by binary search.
//
// Invariants: no block is without live entries; all IDs are at most `last_id`; the revision grows
// by one with each entry that is added or removed and each change of the state or of a group. An
// empty stream is a valid value. Movable, not copyable; a moved-from stream may only be assigned
// to. Costs are for b blocks. Entries are valid until the next change.
class Stream {
 public:
  class Cursor;

  Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  Stream Clone() const;  // O(bytes)

  // A stream, without groups and producers, of the blocks that have the entries of the range.
  // O(log b + bytes of the blocks).
  Stream CopyBlocks(const StreamRange& range) const;

  size_t size() const;  // entries; O(1)
  size_t block_count() const;
  uint32_t revision() const;
  size_t BytesUsed() const;  // heap bytes without the object itself; O(b + consumers)

  // Those of consumers, pending entries and producers. O(consumers + blocks).
  size_t GroupBytes() const;

  const StreamState& state() const;
  StreamId last_id() const { return state().last_id; }

  // The ID of the first and of the last entry; nullopt if there are no entries. O(1), or O(block)
  // if entries of the block are deleted.
  std::optional<StreamId> FirstId() const;
  std::optional<StreamId> LastEntryId() const;

  // Whether a place was taken from this stream, and no entry has moved since.
  bool IsCurrent(const StreamPlace& place) const;

  // Whether the entry exists. O(log b + block).
  bool Contains(StreamId id) const;

  // The number of entries from `first` to `last`, at most `most`. O(blocks in the range + block).
  size_t CountInRange(StreamId first, StreamId last, uint64_t most) const;

  // --- Changes ---

  // Adds an entry with an ID above last_id(). `fields` are names and values in turn.
  // With kOfFirst the names equal those of the first entry of the last block. O(bytes of the
  // entry), amortised; with kOfFirst O(fields + bytes of the values).
  void Append(StreamId id, std::span<const std::string_view> fields, const StreamLimits& limits,
              StreamBlock::Names names = StreamBlock::Names::kCompared);

  // Deletes the entry. Returns whether it existed. O(log b + block).
  bool Delete(StreamId id);

  // Returns the number of removed entries, and appends their IDs to `removed` unless it is null.
  // O(removed blocks + block); with `removed` O(removed entries).
  size_t Trim(const StreamTrim& trim, std::vector<StreamId>* removed = nullptr);

  void SetState(const StreamState& state);

  // --- Groups ---

  const ConsumerGroups& groups() const;
  const ConsumerGroup* FindGroup(std::string_view name) const;

  // The group, to be changed. The caller counts the changes.
  ConsumerGroup* ChangeGroup(std::string_view name);
  void CountChanges(size_t changes);

  // Creates the group if it does not exist. Returns whether it is new.
  bool AddGroup(std::string_view name, ConsumerGroup group);
  bool RemoveGroup(std::string_view name);

  // The IDs of producers; null if none was ever given. The caller counts the changes.
  const Producers* producers() const;
  Producers& ChangeProducers(const StreamLimits& limits_if_new = {});
  void SetProducers(const Producers& producers);

  // The number of entries that were added up to this ID, including deleted ones; nullopt if it
  // cannot be known. Like Redis's estimate.
  std::optional<uint64_t> CountUpTo(StreamId id) const;

  // Whether an entry above `id` may have been deleted.
  bool MayLackEntriesAbove(StreamId id) const;

  // --- Snapshots ---

  // Starts a snapshot of the stream at this instant, which hands out the blocks in steps while the
  // stream changes. A stream has one at a time. O(b + bytes of the groups).
  std::unique_ptr<StreamSnapshot> StartSnapshot() const;

  // Identifies the entries, independently of the object that holds them.
  const void* identity() const { return body_.get(); }

  // Calls visit(const StreamBlock&) for each block, from the first to the last.
  template <class Visit>
  void ForEachBlock(Visit visit) const;

  // Asserts the invariants; for tests. O(n).
  void Check() const;

 private:
  using Blocks = StreamSnapshot::Blocks;
  struct Body;

  const Blocks& blocks() const;

  std::unique_ptr<Body> body_;
};

// A place in a stream, to iterate over entries in either direction. O(log b + block) to construct,
// O(fields) a step. Valid until the next change of the stream.
//
//   for (Stream::Cursor at(stream, first, Stream::Cursor::kForward); at.valid(); at.Next()) ...
class Stream::Cursor {
 public:
  enum Direction { kForward, kBackward };

  // The first entry at or above `from`; backward, the last one at or below it.
  Cursor(const Stream& stream, StreamId from, Direction direction);

  // The first entry above `after`, forward. `place` is a former place() at the entry `after`, or a
  // default one. If it is current, the block is not searched: O(log b).
  Cursor(const Stream& stream, StreamId after, const StreamPlace& place);

  bool valid() const { return block_ < blocks_->size(); }
  const StreamEntry& entry() const {  // only while valid
    return direction_ == kForward ? reader_.entry() : readers_.back().entry();
  }
  StreamId id() const { return entry().id; }
  void Next();

  // The place of the entry. Precondition: valid, and forward.
  StreamPlace place() const { return {.layout = layout_, .offset = reader_.offset()}; }

  // The number of entries from this one on, at most `most`. Forward. O(blocks + entries of one).
  size_t CountLeft(uint64_t most) const;

 private:
  void EnterForward(StreamId from);
  void EnterBackward(StreamId from);

  const Blocks* blocks_;
  Direction direction_;
  uint64_t layout_;
  size_t block_;                              // past the last: invalid
  StreamBlock::Reader reader_;                // forward
  std::vector<StreamBlock::Reader> readers_;  // backward: the entries left in the block
};

template <class Visit>
void Stream::ForEachBlock(Visit visit) const {
  for (const StreamBlock::Owned& block : blocks()) visit(*block);
}

}  // namespace zsetd
