// Changes between the ends: inserting, erasing, and merging small chunks.

#include <algorithm>
#include <iterator>

#include "core/list/list.h"
#include "core/list/list_body.h"

namespace zsetd {
namespace {

using End = ListChunk::End;

// Neighbours that together take no more are merged. Well below a full chunk, so that a split is not
// followed by a merge of the halves.
constexpr size_t kSmallPairBytes = ListChunk::kFullBytes * 3 / 4;

}  // namespace

void List::Replace(size_t index, std::string_view element) {
  const Body::Spot spot = body_->Locate(index);
  ListChunk& chunk = *spot.chunk;
  const size_t place = chunk.PlaceOf(spot.index);
  --body_->size;
  body_->packed_bytes -= ListChunk::PackedBytes(chunk.ElementAt(place));
  chunk.Erase(place, chunk.PlaceAfter(place), 1);
  body_->InsertAt(spot, element);
}

void List::Insert(size_t index, std::string_view element) {
  if (index == 0) return PushFront(element);
  if (index == size()) return PushBack(element);
  body_->InsertAt(body_->Locate(index), element);
}

// Puts the element before the one at the spot, whose index may be one past its chunk's last.
void List::Body::InsertAt(Spot spot, std::string_view element) {
  auto [chunk, index] = spot;
  Count(element);
  const size_t place = chunk->PlaceOf(index);
  if (chunk->Takes(element)) return chunk->Insert(place, element);

  const size_t behind = chunk->count() - index;
  auto next = index == 0 ? chunk : std::next(chunk);
  if (index > 0 && behind > 0) next = chunks.insert(next, chunk->SplitOff(place, behind));

  if (next != chunks.begin() && std::prev(next)->Takes(element)) {
    std::prev(next)->Push(End::kBack, element);
  } else if (next != chunks.end() && next->Takes(element)) {
    next->Push(End::kFront, element);
  } else {
    chunks.emplace(next)->Push(End::kBack, element);
  }
}

void List::Erase(size_t first, size_t last) {
  if (first >= last) return;
  const bool inside = first > 0 && last < size();
  auto [chunk, index] = body_->Locate(first);
  for (size_t left = last - first; left > 0; index = 0) {
    const auto here = chunk++;
    const size_t count = std::min(left, here->count() - index);
    body_->EraseFrom(here, index, count);
    left -= count;
  }
  // At the ends small chunks come and go anyway. Inside, the first and the last chunk touched may
  // be small now, and `chunk` follows the last: three pairs.
  for (int pair = 0; inside && pair < 3; ++pair) chunk = body_->JoinIfSmall(chunk);
}

// Merges the chunk into the one before it, if there is one, and returns that one.
List::Chunks::iterator List::Body::JoinIfSmall(Chunks::iterator chunk) {
  if (chunk == chunks.begin()) return chunk;
  const auto before = std::prev(chunk);
  if (chunk != chunks.end() && before->bytes() + chunk->bytes() <= kSmallPairBytes) {
    before->Append(*chunk);
    chunks.erase(chunk);
  }
  return before;
}

template <class Iterator>
size_t List::Body::RemoveEqual(Iterator first, Iterator end, End from, std::string_view element,
                               size_t most) {
  size_t removed = 0;
  for (Iterator at = first; at != end && removed < most; ++at) {
    removed += at->RemoveEqual(from, element, most - removed);
  }
  if (removed == 0) return 0;
  size -= removed;
  packed_bytes -= removed * ListChunk::PackedBytes(element);
  revision += removed;
  chunks.remove_if([](const ListChunk& chunk) { return chunk.empty(); });
  for (auto chunk = chunks.end(); chunk != chunks.begin();) chunk = JoinIfSmall(chunk);
  return removed;
}

size_t List::RemoveFromFront(std::string_view element, size_t most) {
  Chunks& chunks = body_->chunks;
  return body_->RemoveEqual(chunks.begin(), chunks.end(), End::kFront, element, most);
}

size_t List::RemoveFromBack(std::string_view element, size_t most) {
  Chunks& chunks = body_->chunks;
  return body_->RemoveEqual(chunks.rbegin(), chunks.rend(), End::kBack, element, most);
}

}  // namespace zsetd
