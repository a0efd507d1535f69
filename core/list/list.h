#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/list/list_chunk.h"

namespace zsetd {

class ListSnapshot;

// The encoding that Redis would use for a list, which depends on its history. It changes from
// listpack to quicklist at a limit, and changes back only well below that limit. Tools display it.
enum class ListEncoding : uint8_t { kListpack, kQuicklist };

// The limits up to which Redis would use a listpack. One or both may be kNone.
struct ListLimits {
  static constexpr size_t kNone = SIZE_MAX;

  size_t elements = kNone;
  size_t bytes = 8192;

  // The size at which a quicklist becomes a listpack again: half, so that the
  // encoding of a list near the limit does not alternate.
  ListLimits Half() const;
};

// A sequence of byte strings with fast operations at both ends. It is a chain of packed chunks of
// up to 8 KB, so that a short element takes its bytes and two more, not an allocation. A short list
// is one small chunk; an element too large for any chunk has one of its own.
//
// Invariants: no chunk is empty; after an erasure between the ends, one of two neighbours is not
// small; the revision grows by one with each element that is added, removed or replaced. Movable,
// not copyable; a moved-from list may only be assigned to. Costs are for n elements; "near the
// index" means O(chunks from the closer end). Views are valid until the next change. An element
// argument must not view the same list.
class List {
 public:
  class Cursor;

  List();
  List(List&&) noexcept;
  List& operator=(List&&) noexcept;
  ~List();

  List Clone() const;  // O(n)

  size_t size() const;  // O(1)
  bool empty() const { return size() == 0; }
  uint32_t revision() const;
  ListEncoding encoding() const;

  size_t chunk_count() const;  // O(1)

  // The bytes of the elements and their length marks, without free room. O(1).
  size_t packed_bytes() const;

  // The heap bytes, including allocator rounding, without the object itself. O(chunks).
  size_t BytesUsed() const;

  void PushFront(std::string_view element);  // O(1), amortised
  void PushBack(std::string_view element);   // O(1), amortised

  // Remove and return the element at one end. Precondition: the list is not empty. O(1), amortised.
  std::string PopFront();
  std::string PopBack();

  // The index is below size() (for Insert: at most size()). Near the index.
  std::string_view At(size_t index) const;
  void Replace(size_t index, std::string_view element);
  void Insert(size_t index, std::string_view element);  // the new element gets this index

  // Removes the elements first <= i < last. O(chunks touched).
  void Erase(size_t first, size_t last);

  // Remove at most `most` elements equal to `element`, starting at that end. Return the number of
  // removed elements. O(elements up to the last one removed + chunks).
  size_t RemoveFromFront(std::string_view element, size_t most);
  size_t RemoveFromBack(std::string_view element, size_t most);

  // Update the encoding before elements are added, and after some were removed.
  void Expect(size_t elements, size_t bytes, const ListLimits& limits);
  void Reconsider(const ListLimits& limits);

  // Starts a snapshot of the elements at this instant, which hands them out in steps while the list
  // changes. A list has one snapshot at a time. O(chunks).
  std::unique_ptr<ListSnapshot> StartSnapshot() const;

  // Identifies the elements, independently of the object that holds them.
  const void* identity() const { return body_.get(); }

  // Asserts the invariants; for tests. O(n).
  void Check() const;

  // A cursor at `index`, or past the end. Near the index.
  Cursor CursorAt(size_t index) const;

 private:
  using Chunks = std::list<ListChunk>;
  struct Body;
  std::unique_ptr<Body> body_;
};

// A place in a list, to iterate in either direction: O(1) a step. Invalid after any change of the
// list.
//
//   for (auto at = list.CursorAt(0); at.valid(); at.Next()) Use(at.element());
class List::Cursor {
 public:
  bool valid() const { return chunk_ != chunks_->end(); }

  // The element here; only while valid.
  std::string_view element() const {
    assert(valid());
    return chunk_->ElementAt(place_);
  }

  // Move to a neighbour. Past either end the cursor is invalid.
  void Next();
  void Previous();

 private:
  friend class List;
  Cursor(const Chunks& chunks, Chunks::const_iterator chunk, size_t place)
      : chunks_(&chunks), chunk_(chunk), place_(place) {}

  const Chunks* chunks_;
  Chunks::const_iterator chunk_;
  size_t place_;  // in the chunk
};

}  // namespace zsetd
