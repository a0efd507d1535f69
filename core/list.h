#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zsetd {

// A sequence of byte strings, quick at both ends. Kept as a chain of packed chunks of about 8 KB, so
// that a short element costs its bytes and a length byte or two, not an allocation.
//
// Invariants: no chunk is empty; the revision changes with every change of contents. Movable, not
// copyable. Costs are for n elements; "near the index" means hops over whole chunks from the closer
// end. Views are valid until the next change.
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

  // The elements' bytes with their length bytes, chunk headers left out. O(1).
  size_t packed_bytes() const;

  // The heap bytes, allocator rounding included; the object itself not. O(chunks).
  size_t BytesUsed() const;

  void PushFront(std::string_view element);  // O(1), amortised
  void PushBack(std::string_view element);   // O(1), amortised

  // Removes and returns an end; the list is not empty. O(1), amortised.
  std::string PopFront();
  std::string PopBack();

  // The index is below size() (for Insert: at most size()). Near the index.
  std::string_view At(size_t index) const;
  void Replace(size_t index, std::string_view element);
  void Insert(size_t index, std::string_view element);  // it then stands at `index`

  // Removes the elements first <= i < last. O(chunks touched).
  void Erase(size_t first, size_t last);

  // A cursor at `index`, or past the end. Near the index.
  Cursor CursorAt(size_t index) const;

 private:
  friend class Cursor;
  struct Body;
  std::unique_ptr<Body> body_;
};

// A place in a list, to walk from in either direction: O(1) a step. Any change of the list ends it.
class List::Cursor {
 public:
  bool valid() const;
  std::string_view element() const;  // only while valid
  void Next();
  void Previous();

 private:
  friend class List;
  Cursor(const Body* body, size_t chunk, size_t offset);
  const Body* body_;
  size_t chunk_;
  size_t offset_;
};

}  // namespace zsetd
