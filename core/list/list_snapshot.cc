#include "core/list/list_snapshot.h"

#include <cassert>
#include <utility>

namespace zsetd {

ListSnapshot::ListSnapshot(const std::vector<ListChunk*>& chunks)
    : pieces_(chunks.size(), chunks.size()) {
  for (uint32_t number = 0; number < chunks.size(); ++number) {
    assert(chunks[number]->mark().snapshot == nullptr);
    chunks[number]->SetMark({this, number});
    pieces_.Add(number, *chunks[number]);
  }
}

void ListSnapshot::BeforeRemoval(ListChunk& chunk) {
  assert(chunk.mark().snapshot == this);
  const uint32_t number = chunk.mark().number;
  auto contents = std::make_unique<ListChunk>(std::move(chunk));
  contents->ClearMark();
  pieces_.TakeOver(number, std::move(contents));
}

}  // namespace zsetd
