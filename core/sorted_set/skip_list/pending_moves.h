#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/util/allocation.h"

namespace zsetd {

// The elements that the member index still has by the id of a block they have left.
//
// A split moves some seventy elements to a new block. Each has its entry in another bucket of the
// index, which in a large set is not in the cache: to change all of them takes twice as long as the
// split itself. So they keep the old id in the index at first, and each of the changes that follow
// moves a few:
//
//   blocks   3 [ a b c d e f g h ]     3 [ a b c d ]  8 [ e f g h ]
//
//   index    a3 b3 c3 .. g3 h3         a3 b3 c3 d3      e8 f8|g3 h3
//                                                       moved
//
// A search that finds block 3 in the index looks into block 8 too.
//
// Invariant: a block has elements that are indexed by another's id, or others have elements that
// are indexed by its own, never both.
class PendingMoves {
 public:
  struct Move {
    uint32_t from;   // the id by which the index has them
    uint32_t to;     // their block
    uint32_t moved;  // how many, the first ones of the block, are indexed by it
  };

  bool empty() const { return pending_.empty(); }
  size_t size() const { return pending_.size(); }
  size_t BytesUsed() const { return AllocatedBytes(pending_.data()); }

  // The elements of block `to` are all indexed by `from`.
  void Start(uint32_t from, uint32_t to) { pending_.push_back({from, to, 0}); }

  // The oldest one.
  Move& first() {
    assert(!empty());
    return pending_.front();
  }
  void EndFirst() {
    assert(!empty());
    pending_.erase(pending_.begin());
  }

  auto begin() const { return pending_.begin(); }
  auto end() const { return pending_.end(); }

  // Ends those for which is_over(move) is true.
  template <class IsOver>
  void EndWhere(IsOver is_over) {
    std::erase_if(pending_, is_over);
  }

  // The id by which element `i` of the block is indexed.
  uint32_t IndexedId(uint32_t block, size_t i) const {
    for (const Move& move : pending_) {
      if (move.to == block && i >= move.moved) return move.from;
    }
    return block;
  }

  // Calls visit(id) for the other blocks that have elements indexed by that id, until it returns
  // true; then true.
  template <class Visit>
  bool AnyOther(uint32_t indexed, Visit visit) const {
    return std::any_of(begin(), end(),
                       [&](const Move& move) { return move.from == indexed && visit(move.to); });
  }

  // An element was inserted at `i` of the block; returns the id to index it by.
  uint32_t RecordInsertion(uint32_t block, size_t i) {
    for (Move& move : pending_) {
      if (move.to != block) continue;
      if (i > move.moved) return move.from;
      ++move.moved;
    }
    return block;
  }

  // Element `i` of the block was erased.
  void RecordErasure(uint32_t block, size_t i) {
    for (Move& move : pending_) {
      if (move.to == block && i < move.moved) --move.moved;
    }
  }

 private:
  std::vector<Move> pending_;
};

}  // namespace zsetd
