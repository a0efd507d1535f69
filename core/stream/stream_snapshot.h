#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/stream/block_row.h"
#include "core/stream/consumer_group.h"
#include "core/stream/producers.h"
#include "core/stream/stream_block.h"
#include "core/stream/stream_id.h"
#include "core/util/piece_snapshot.h"
#include "core/util/snapshot_link.h"

namespace zsetd {

// The groups of a stream by name, in the order of bytes.
using ConsumerGroups = std::map<std::string, ConsumerGroup, std::less<>>;

// The state of a stream apart from its entries and groups.
struct StreamState {
  StreamId last_id;            // the highest that was ever added, or set by XSETID
  StreamId max_deleted_id;     // the highest that XDEL deleted
  uint64_t entries_added = 0;  // ever

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

// All of a stream except its entries.
struct StreamTail {
  size_t length = 0;  // entries
  StreamId first_id;  // 0-0 without entries
  StreamState state;
  ConsumerGroups groups;
  std::unique_ptr<Producers> producers;  // null: none
};

// The blocks of a stream as the pieces of its snapshot.
struct StreamPieces {
  using Piece = StreamBlock;
  using Owned = StreamBlock::Owned;

  static Owned Clone(const StreamBlock& block) { return StreamBlock::Clone(block); }
  static size_t BytesUsed(const StreamBlock& block) { return block.BytesUsed(); }
  static void Release(StreamBlock& block) { block.set_number(StreamBlock::kNoNumber); }
#ifndef NDEBUG
  static uint64_t Checksum(const StreamBlock& block) { return block.Checksum(); }
#endif
};

// A stream as it was at one instant, whose blocks are handed out one at a time while the stream
// changes: see PieceSnapshot. A removed block is moved instead of copied. The groups are copied
// when the snapshot starts, because their pending entries take about 10 bytes each. A stream has
// one snapshot at a time. The snapshot may outlive the stream.
class StreamSnapshot {
 public:
  using Blocks = BlockRow<StreamBlock::Owned>;

  // For Stream only. `pointer` is the stream's pointer to its snapshot.
  StreamSnapshot(Blocks& blocks, StreamTail tail, StreamSnapshot*& pointer);
  StreamSnapshot(const StreamSnapshot&) = delete;

  size_t block_count() const { return pieces_.piece_count(); }
  const StreamTail& tail() const { return tail_; }
  StreamTail TakeTail() { return std::move(tail_); }
  bool done() const { return pieces_.done(); }

  // The bytes of the copied blocks that are not handed out yet.
  size_t copied_bytes() const { return pieces_.copied_bytes(); }

  // Calls visit(const StreamBlock&) for the next block. Precondition: !done().
  template <class Visit>
  void Step(Visit visit) {
    pieces_.Step(visit);
  }

  // --- For Stream. ---

  // Must be called before a block is changed or reallocated. O(bytes) the first time.
  void BeforeChange(const StreamBlock& block) {
    if (block.number() != StreamBlock::kNoNumber) pieces_.BeforeChange(block.number());
  }

  // Takes over a block that is removed from the stream. O(1).
  void BeforeRemoval(StreamBlock::Owned block);

  // Must be called when the stream is destroyed, after BeforeRemoval() for each block.
  void Detach() { link_.Cut(); }

 private:
  StreamTail tail_;
  PieceSnapshot<StreamPieces> pieces_;
  SnapshotLink<StreamSnapshot> link_;
};

}  // namespace zsetd
