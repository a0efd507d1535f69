#include "core/list/list_snapshot.h"

#include <cassert>

namespace zsetd {

ListSnapshot::ListSnapshot(std::vector<ListChunk*> chunks) : chunks_(std::move(chunks)) {
  for (ListChunk* chunk : chunks_) {
    assert(chunk->snapshot() == nullptr);
    chunk->set_snapshot(this);
  }
}

ListSnapshot::~ListSnapshot() {
  while (!done()) Pass();
}

// Looks for a copy first, because a copied chunk may have been freed and its address reused.
const ListChunk& ListSnapshot::Current() const {
  assert(!done());
  const auto copy = copies_.find(chunks_[next_]);
  return copy == copies_.end() ? *chunks_[next_] : *copy->second;
}

void ListSnapshot::Pass() {
  ListChunk* chunk = chunks_[next_++];
  if (copies_.erase(chunk) == 0) chunk->set_snapshot(nullptr);
}

void ListSnapshot::Take(ListChunk& chunk, ListChunk contents) {
  assert(chunk.snapshot() == this);
  chunk.set_snapshot(nullptr);
  contents.set_snapshot(nullptr);
  copies_.emplace(&chunk, std::make_unique<ListChunk>(std::move(contents)));
}

}  // namespace zsetd
