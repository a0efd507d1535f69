#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/list/list_chunk.h"

namespace zsetd {

// The elements of a list as they were at one instant, handed out a chunk at a time while the list
// changes.
//
//   order    [ * * * * * ]            the addresses that the chunks had at the instant
//              | | | | `--> chunk      it bears a mark: unchanged and not handed out
//              | | | `----> copy       it was about to change, and was copied
//
// The start visits each chunk once and sets its mark. A removed chunk is moved instead of copied. A
// list has one snapshot at a time. The snapshot may outlive the list.
class ListSnapshot {
 public:
  // Takes all chunks in order. For List only.
  explicit ListSnapshot(std::vector<ListChunk*> chunks);
  ListSnapshot(const ListSnapshot&) = delete;
  ~ListSnapshot();

  size_t chunk_count() const { return chunks_.size(); }  // at the instant
  bool done() const { return next_ == chunks_.size(); }

  // Calls visit(const ListChunk&) for the next chunk, from the first to the last. Precondition:
  // !done().
  template <class Visit>
  void Step(Visit visit) {
    visit(Current());
    Pass();
  }

  // --- For List. ---

  // Must be called before a chunk with the mark is changed. O(bytes).
  void BeforeChange(ListChunk& chunk) { Take(chunk, chunk.Clone()); }

  // Must be called before a chunk with the mark is destroyed. Takes over its contents and leaves it
  // empty. O(1).
  void BeforeRemoval(ListChunk& chunk) { Take(chunk, std::move(chunk)); }

 private:
  const ListChunk& Current() const;
  void Pass();
  void Take(ListChunk& chunk, ListChunk contents);

  std::vector<ListChunk*> chunks_;
  size_t next_ = 0;
  absl::flat_hash_map<const ListChunk*, std::unique_ptr<ListChunk>> copies_;
};

}  // namespace zsetd
