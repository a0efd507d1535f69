#include "core/list/list.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/list/list_snapshot.h"
#include "core/util/allocation.h"

namespace zsetd {
namespace {

using End = ListChunk::End;

// A chunk in a std::list, with two pointers and the allocator's rounding.
constexpr size_t kChainedChunkBytes = 64;
static_assert(sizeof(ListChunk) + 2 * sizeof(void*) <= kChainedChunkBytes);

constexpr size_t kListpackFrameBytes = 7;  // a listpack's header and its end mark

// Neighbours that together take at most this many bytes are merged. The limit is well below a full
// chunk, so that the halves of a split chunk are not merged again.
constexpr size_t kSmallPairBytes = ListChunk::kFullBytes * 3 / 4;

}  // namespace

// The state of a list, and the steps of its functions.
struct List::Body {
  using End = ListChunk::End;

  // An element by its chunk and its index there.
  struct Spot {
    Chunks::iterator chunk;
    size_t index;
  };

  Chunks chunks;
  size_t size = 0;
  size_t packed_bytes = 0;
  uint32_t revision = 0;
  ListEncoding encoding = ListEncoding::kListpack;

  Body() = default;
  ~Body();

  static ListChunk& Mutable(ListChunk& chunk);
  void Remove(Chunks::iterator chunk);
  Spot Locate(size_t index);
  void Count(std::string_view added);
  void Push(End end, std::string_view element);
  std::string Pop(End end);
  void InsertAt(Spot spot, std::string_view element);
  void EraseFrom(Chunks::iterator chunk, size_t index, size_t count);
  template <class Iterator>
  size_t RemoveEqual(Iterator first, Iterator end, End from, std::string_view element, size_t most);
  Chunks::iterator JoinIfSmall(Chunks::iterator chunk);
};

List::Body::~Body() {
  for (ListChunk& chunk : chunks) {
    if (chunk.IsMarked()) chunk.mark().snapshot->BeforeRemoval(chunk);
  }
}

// Returns a chunk for a change, and informs the snapshot first. This is the only access to a chunk
// that can be changed.
inline ListChunk& List::Body::Mutable(ListChunk& chunk) {
  if (chunk.IsMarked()) [[unlikely]]
    chunk.mark().snapshot->BeforeChange(chunk);
  return chunk;
}

void List::Body::Remove(Chunks::iterator chunk) {
  if (chunk->IsMarked()) [[unlikely]]
    chunk->mark().snapshot->BeforeRemoval(*chunk);
  chunks.erase(chunk);
}

inline void List::Body::Count(std::string_view added) {
  ++size;
  packed_bytes += ListChunk::PackedBytes(added);
  ++revision;
}

ListLimits ListLimits::Half() const {
  if (elements == kNone) return {.bytes = bytes / 2};
  return {.elements = elements / 2, .bytes = bytes};
}

// Past the end for index == size.
List::Body::Spot List::Body::Locate(size_t index) {
  assert(index <= size);
  if (index < size / 2) {
    auto chunk = chunks.begin();
    while (index >= chunk->count()) index -= (chunk++)->count();
    return {chunk, index};
  }
  auto chunk = chunks.end();
  size_t behind = size - index;  // elements from `index` on that are not in passed chunks
  while (behind > 0) {
    --chunk;
    if (behind <= chunk->count()) return {chunk, chunk->count() - behind};
    behind -= chunk->count();
  }
  return {chunk, 0};
}

void List::Body::Push(End end, std::string_view element) {
  const bool front = end == End::kFront;
  if (chunks.empty() || !(front ? chunks.front() : chunks.back()).TakesAt(end, element)) {
    chunks.emplace(front ? chunks.begin() : chunks.end());
  }
  Mutable(front ? chunks.front() : chunks.back()).Push(end, element);
  Count(element);
}

std::string List::Body::Pop(End end) {
  assert(size > 0);
  const auto chunk = end == End::kFront ? chunks.begin() : std::prev(chunks.end());
  const size_t index = end == End::kFront ? 0 : chunk->count() - 1;
  std::string element(chunk->ElementAt(chunk->PlaceOf(index)));
  EraseFrom(chunk, index, 1);
  return element;
}

// Removes elements of one chunk, and the chunk if it becomes empty.
void List::Body::EraseFrom(Chunks::iterator chunk, size_t index, size_t count) {
  assert(0 < count && index + count <= chunk->count());
  const size_t packed_before = chunk->bytes();
  size -= count;
  revision += count;
  if (count == chunk->count()) {
    Remove(chunk);
    packed_bytes -= packed_before;
    return;
  }
  Mutable(*chunk).Erase(chunk->PlaceOf(index), chunk->PlaceOf(index + count), count);
  packed_bytes -= packed_before - chunk->bytes();
}

List::List() : body_(std::make_unique<Body>()) {}
List::List(List&&) noexcept = default;
List& List::operator=(List&&) noexcept = default;
List::~List() = default;

List List::Clone() const {
  List copy;
  for (const ListChunk& chunk : body_->chunks) copy.body_->chunks.push_back(chunk.Clone());
  copy.body_->size = body_->size;
  copy.body_->packed_bytes = body_->packed_bytes;
  copy.body_->encoding = body_->encoding;
  return copy;
}

std::unique_ptr<ListSnapshot> List::StartSnapshot() const {
  std::vector<ListChunk*> chunks;
  chunks.reserve(chunk_count());
  for (ListChunk& chunk : body_->chunks) chunks.push_back(&chunk);
  return std::make_unique<ListSnapshot>(chunks);
}

size_t List::size() const { return body_->size; }

uint32_t List::revision() const { return body_->revision; }

ListEncoding List::encoding() const { return body_->encoding; }

size_t List::packed_bytes() const { return body_->packed_bytes; }

size_t List::chunk_count() const { return body_->chunks.size(); }

size_t List::BytesUsed() const {
  size_t bytes = AllocatedBytes(body_.get());
  for (const ListChunk& chunk : body_->chunks) bytes += kChainedChunkBytes + chunk.BytesUsed();
  return bytes;
}

void List::PushFront(std::string_view element) { body_->Push(End::kFront, element); }

void List::PushBack(std::string_view element) { body_->Push(End::kBack, element); }

std::string List::PopFront() { return body_->Pop(End::kFront); }

std::string List::PopBack() { return body_->Pop(End::kBack); }

std::string_view List::At(size_t index) const {
  assert(index < size());
  return CursorAt(index).element();
}

void List::Expect(size_t elements, size_t bytes, const ListLimits& limits) {
  const size_t bytes_then = kListpackFrameBytes + packed_bytes() + bytes;
  const bool fits = size() + elements <= limits.elements && bytes_then <= limits.bytes;
  if (!fits) body_->encoding = ListEncoding::kQuicklist;
}

void List::Reconsider(const ListLimits& limits) {
  const ListLimits half = limits.Half();
  const bool fits = size() <= half.elements && kListpackFrameBytes + packed_bytes() <= half.bytes;
  if (fits) body_->encoding = ListEncoding::kListpack;
}

List::Cursor List::CursorAt(size_t index) const {
  const auto [chunk, index_there] = body_->Locate(index);
  const bool valid = chunk != body_->chunks.end();
  return Cursor(body_->chunks, chunk, valid ? chunk->PlaceOf(index_there) : 0);
}

void List::Check() const {
  [[maybe_unused]] size_t elements = 0, bytes = 0;
  for (const ListChunk& chunk : body_->chunks) {
    assert(!chunk.empty() && (chunk.bytes() <= ListChunk::kFullBytes || chunk.count() == 1));
    [[maybe_unused]] size_t count = 0;
    for (size_t place = 0; place < chunk.bytes(); place = chunk.PlaceAfter(place)) ++count;
    assert(count == chunk.count());
    elements += chunk.count();
    bytes += chunk.bytes();
  }
  assert(elements == size() && bytes == packed_bytes());
}

void List::Cursor::Next() {
  assert(valid());
  place_ = chunk_->PlaceAfter(place_);
  if (place_ < chunk_->bytes()) return;
  ++chunk_;
  place_ = 0;
}

void List::Cursor::Previous() {
  assert(valid());
  if (place_ == 0) {
    const bool at_first = chunk_ == chunks_->begin();
    chunk_ = at_first ? chunks_->end() : std::prev(chunk_);
    if (at_first) return;
    place_ = chunk_->bytes();
  }
  place_ = chunk_->PlaceBefore(place_);
}

void List::Replace(size_t index, std::string_view element) {
  assert(index < size());
  const Body::Spot spot = body_->Locate(index);
  ListChunk& chunk = Body::Mutable(*spot.chunk);
  const size_t place = chunk.PlaceOf(spot.index);
  --body_->size;
  body_->packed_bytes -= ListChunk::PackedBytes(chunk.ElementAt(place));
  chunk.Erase(place, chunk.PlaceAfter(place), 1);
  body_->InsertAt(spot, element);
}

void List::Insert(size_t index, std::string_view element) {
  assert(index <= size());
  if (index == 0) return PushFront(element);
  if (index == size()) return PushBack(element);
  body_->InsertAt(body_->Locate(index), element);
}

// Inserts the element before the spot, whose index may be one past the last of its chunk.
void List::Body::InsertAt(Spot spot, std::string_view element) {
  auto [chunk, index] = spot;
  Count(element);
  const size_t place = chunk->PlaceOf(index);
  if (chunk->Takes(element)) return Mutable(*chunk).Insert(place, element);

  const size_t behind = chunk->count() - index;
  auto next = index == 0 ? chunk : std::next(chunk);
  if (index > 0 && behind > 0) next = chunks.insert(next, Mutable(*chunk).SplitOff(place, behind));

  if (next != chunks.begin() && std::prev(next)->Takes(element)) {
    Mutable(*std::prev(next)).Push(End::kBack, element);
  } else if (next != chunks.end() && next->Takes(element)) {
    Mutable(*next).Push(End::kFront, element);
  } else {
    chunks.emplace(next)->Push(End::kBack, element);
  }
}

void List::Erase(size_t first, size_t last) {
  assert(last <= size());
  if (first >= last) return;
  const bool inside = first > 0 && last < size();
  auto [chunk, index] = body_->Locate(first);
  for (size_t left = last - first; left > 0; index = 0) {
    const auto here = chunk++;
    const size_t count = std::min(left, here->count() - index);
    body_->EraseFrom(here, index, count);
    left -= count;
  }
  // At the ends, small chunks are normal. Inside, the first and the last touched chunk may be small
  // now, and `chunk` follows the last one. So three pairs are checked.
  for (int pair = 0; inside && pair < 3; ++pair) chunk = body_->JoinIfSmall(chunk);
}

// Merges the chunk into the previous one, if it exists and both are small. Returns the previous
// chunk.
List::Chunks::iterator List::Body::JoinIfSmall(Chunks::iterator chunk) {
  if (chunk == chunks.begin()) return chunk;
  const auto before = std::prev(chunk);
  if (chunk != chunks.end() && before->bytes() + chunk->bytes() <= kSmallPairBytes) {
    Mutable(*before).Append(*chunk);
    Remove(chunk);
  }
  return before;
}

template <class Iterator>
size_t List::Body::RemoveEqual(Iterator first, Iterator end, End from, std::string_view element,
                               size_t most) {
  size_t removed = 0;
  for (Iterator at = first; at != end && removed < most; ++at) {
    if (at->IsMarked() && !at->Has(element)) continue;
    removed += Mutable(*at).RemoveEqual(from, element, most - removed);
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
