#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/list/list_chunk.h"
#include "core/util/piece_snapshot.h"

namespace zsetd {

// The chunks of a list as the pieces of its snapshot. A live chunk bears a mark.
struct ListPieces {
  using Piece = ListChunk;
  using Owned = std::unique_ptr<ListChunk>;

  static Owned Clone(const ListChunk& chunk) { return std::make_unique<ListChunk>(chunk.Clone()); }
  static size_t BytesUsed(const ListChunk& chunk) { return sizeof(chunk) + chunk.BytesUsed(); }
  static void Release(ListChunk& chunk) { chunk.ClearMark(); }
#ifndef NDEBUG
  static uint64_t Checksum(const ListChunk& chunk) { return chunk.Checksum(); }
#endif
};

// The elements of a list as they were at one instant, handed out a chunk at a time while the list
// changes: see PieceSnapshot. A removed chunk is moved instead of copied. A list has one snapshot
// at a time. The snapshot may outlive the list.
class ListSnapshot {
 public:
  // Takes all chunks in order and marks them. For List only.
  explicit ListSnapshot(const std::vector<ListChunk*>& chunks);
  ListSnapshot(const ListSnapshot&) = delete;

  size_t chunk_count() const { return pieces_.piece_count(); }  // at the instant
  bool done() const { return pieces_.done(); }

  // The bytes of the copies that are not handed out yet.
  size_t copied_bytes() const { return pieces_.copied_bytes(); }

  // Calls visit(const ListChunk&) for the next chunk, from the first to the last. Precondition:
  // !done().
  template <class Visit>
  void Step(Visit visit) {
    pieces_.Step(visit);
  }

  // --- For List. ---

  // Must be called before a chunk with the mark is changed. O(bytes).
  void BeforeChange(const ListChunk& chunk) { pieces_.BeforeChange(chunk.mark().number); }

  // Must be called before a chunk with the mark is destroyed. Takes over its contents and leaves it
  // empty. O(1).
  void BeforeRemoval(ListChunk& chunk);

 private:
  PieceSnapshot<ListPieces> pieces_;
};

}  // namespace zsetd
