#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/util/allocation.h"

namespace zsetd {

// Which elements the member index still knows by the id of a block where they no longer stand.
//
// A division gives some seventy elements to a new block. Each has its entry in another bucket of
// the index, which in a large set is not in the cache: to tell all of them the new id takes twice
// as long as the division itself. So they keep the old one as their name at first, and each of the
// changes that follow renames a few:
//
//   blocks   3 [ a b c d e f g h ]     3 [ a b c d ]  8 [ e f g h ]
//
//   index    a3 b3 c3 .. g3 h3         a3 b3 c3 d3      e8 f8|g3 h3
//                                                       renamed
//
// Whoever follows a name to block 3 looks into block 8 too.
//
// Invariant: a block has elements with another's name, or lends others its own, never both.
class Renamings {
 public:
  struct Renaming {
    uint32_t from;     // the elements' name
    uint32_t to;       // their block, and their name to be
    uint32_t renamed;  // how many have it; the first ones of the block
  };

  bool empty() const { return pending_.empty(); }
  size_t size() const { return pending_.size(); }
  size_t BytesUsed() const { return AllocatedBytes(pending_.data()); }

  // The elements of block `to` are all named `from`.
  void Start(uint32_t from, uint32_t to) { pending_.push_back({from, to, 0}); }

  // That which was started first.
  Renaming& first() { return pending_.front(); }
  void EndFirst() { pending_.erase(pending_.begin()); }

  auto begin() const { return pending_.begin(); }
  auto end() const { return pending_.end(); }

  // Ends those for which is_over(renaming) is true.
  template <class IsOver>
  void EndWhere(IsOver is_over) {
    std::erase_if(pending_, is_over);
  }

  // The name of element `i` of the block.
  uint32_t NameOf(uint32_t block, size_t i) const {
    for (const Renaming& renaming : pending_) {
      if (renaming.to == block && i >= renaming.renamed) return renaming.from;
    }
    return block;
  }

  // Calls visit(id) for the other blocks that have elements of that name, until it returns true;
  // then true.
  template <class Visit>
  bool AnyOther(uint32_t name, Visit visit) const {
    return std::any_of(begin(), end(), [&](const Renaming& renaming) {
      return renaming.from == name && visit(renaming.to);
    });
  }

  // An element has come to stand at `i` of the block; returns the name it is to have.
  uint32_t NoteInsertion(uint32_t block, size_t i) {
    for (Renaming& renaming : pending_) {
      if (renaming.to != block) continue;
      if (i > renaming.renamed) return renaming.from;
      ++renaming.renamed;
    }
    return block;
  }

  // Element `i` of the block has gone.
  void NoteErasure(uint32_t block, size_t i) {
    for (Renaming& renaming : pending_) {
      if (renaming.to == block && i < renaming.renamed) --renaming.renamed;
    }
  }

 private:
  std::vector<Renaming> pending_;
};

}  // namespace zsetd
