#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace zsetd {

class ListSnapshot;

// A few byte strings packed into one block of memory, each between two marks of its length, so that
// they can be iterated in both directions. Free room is at both ends of the block.
//
//     | room | 5 h e l l o 5 | 0 0 | 3 b y e 3 | room |
//      place   0               7     9           14 = bytes()
//
// An element is identified by its place: the distance of its first byte from the first element. Any
// change makes places and views invalid. Movable; a moved-from chunk may only be assigned to.
class ListChunk {
 public:
  // The maximum of a chunk with more than one element.
  static constexpr size_t kFullBytes = 8192;

  enum class End { kFront, kBack };

  // The bytes of an element with its length marks.
  static size_t PackedBytes(std::string_view element);

  ListChunk Clone() const;

  size_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  size_t bytes() const { return bytes_; }  // of all elements, packed
  size_t BytesUsed() const;                // on the heap, allocator rounding included

  // Whether the element may be added without exceeding the chunk's limit.
  bool Takes(std::string_view element) const;

  // Whether the element may be added at that end in O(1), amortized. False if all room is at the
  // other end of a chunk that is more than half full.
  bool TakesAt(End end, std::string_view element) const;

  // Add an element that fits. It must not view the chunk. Insert() is O(bytes).
  void Push(End end, std::string_view element);
  void Insert(size_t place, std::string_view element);

  // Removes the elements with first <= place < last, `count` of them. O(bytes to the closer end).
  void Erase(size_t first, size_t last, size_t count);

  bool Has(std::string_view element) const { return CountOf(element) > 0; }  // O(bytes)

  // Removes at most `most` elements equal to `element`, starting at that end. Returns the number of
  // removed elements. O(bytes).
  size_t RemoveEqual(End from, std::string_view element, size_t most);

  // Moves the elements from `place` on, `count` of them, to a chunk of their own. O(bytes).
  ListChunk SplitOff(size_t place, size_t count);

  // Appends copies of all elements of `next`, which fit. O(bytes).
  void Append(const ListChunk& next);

  // To iterate: the place after the last element is bytes(). O(1).
  std::string_view ElementAt(size_t place) const;
  size_t PlaceAfter(size_t place) const;
  size_t PlaceBefore(size_t place) const;

  // The place of the element with that index, at most count(). O(elements to the closer end).
  size_t PlaceOf(size_t index) const;

  // The mark of a chunk that is live in a snapshot: the snapshot, which must copy the chunk before
  // a change, or null, and the chunk's number there. The mark moves with the chunk, but is neither
  // copied nor split off.
  struct Mark {
    ListSnapshot* snapshot = nullptr;
    uint32_t number = 0;
  };
  Mark mark() const { return {snapshot_, number_}; }
  void SetMark(const Mark& mark) {
    snapshot_ = mark.snapshot;
    number_ = mark.number;
  }
  void ClearMark() { snapshot_ = nullptr; }
  bool IsMarked() const { return snapshot_ != nullptr; }

#ifndef NDEBUG
  // A checksum of the elements. O(bytes).
  uint64_t Checksum() const;
#endif

 private:
  char* first() const { return block_.get() + front_room_; }
  size_t RoomAt(End end) const;
  size_t CountOf(std::string_view element) const;

  char* OpenGap(End end, size_t place, size_t gap);
  void MakeRoom(End end, size_t room);
  void MoveTo(size_t capacity, size_t front_room);

  std::unique_ptr<char[]> block_;
  size_t capacity_ = 0;  // of the block
  size_t front_room_ = 0;
  size_t bytes_ = 0;
  uint32_t count_ = 0;  // at most kFullBytes / 2
  uint32_t number_ = 0;
  ListSnapshot* snapshot_ = nullptr;
};

}  // namespace zsetd
