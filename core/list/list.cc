#include "core/list/list.h"

#include <iterator>
#include <utility>

#include "core/list/list_body.h"
#include "core/util/allocation.h"

namespace zsetd {
namespace {

using End = ListChunk::End;

// A chunk in a std::list, with two pointers and the allocator's rounding.
constexpr size_t kChainedChunkBytes = 64;
static_assert(sizeof(ListChunk) + 2 * sizeof(void*) <= kChainedChunkBytes);

constexpr size_t kListpackFrameBytes = 7;  // a listpack's header and its end mark

}  // namespace

ListLimits ListLimits::Half() const {
  if (elements == kNone) return {.bytes = bytes / 2};
  return {.elements = elements / 2, .bytes = bytes};
}

// Past the end for index == size.
List::Body::Spot List::Body::Locate(size_t index) {
  if (index < size / 2) {
    auto chunk = chunks.begin();
    while (index >= chunk->count()) index -= (chunk++)->count();
    return {chunk, index};
  }
  auto chunk = chunks.end();
  size_t behind = size - index;  // elements from `index` on that are not in chunks passed
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
  (front ? chunks.front() : chunks.back()).Push(end, element);
  Count(element);
}

std::string List::Body::Pop(End end) {
  const auto chunk = end == End::kFront ? chunks.begin() : std::prev(chunks.end());
  const size_t index = end == End::kFront ? 0 : chunk->count() - 1;
  std::string element(chunk->ElementAt(chunk->PlaceOf(index)));
  EraseFrom(chunk, index, 1);
  return element;
}

// Removes elements of one chunk, and the chunk if they are all it has.
void List::Body::EraseFrom(Chunks::iterator chunk, size_t index, size_t count) {
  const size_t packed_before = chunk->bytes();
  size -= count;
  revision += count;
  if (count == chunk->count()) {
    chunks.erase(chunk);
    packed_bytes -= packed_before;
    return;
  }
  chunk->Erase(chunk->PlaceOf(index), chunk->PlaceOf(index + count), count);
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

std::string_view List::At(size_t index) const { return CursorAt(index).element(); }

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

void List::Cursor::Next() {
  place_ = chunk_->PlaceAfter(place_);
  if (place_ < chunk_->bytes()) return;
  ++chunk_;
  place_ = 0;
}

void List::Cursor::Previous() {
  if (place_ == 0) {
    const bool at_first = chunk_ == chunks_->begin();
    chunk_ = at_first ? chunks_->end() : std::prev(chunk_);
    if (at_first) return;
    place_ = chunk_->bytes();
  }
  place_ = chunk_->PlaceBefore(place_);
}

}  // namespace zsetd
