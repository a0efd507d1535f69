#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "core/hash/field.h"

namespace zsetd {

// A few fields packed one after another in a single allocation, in the order of arrival.
//
//     memory   [ count, bytes, capacity | field | field | ... | room ]
//     place                               0       7       12
//
// A field is identified by its place: its distance in bytes from the first field. Any change makes
// places and views invalid. An empty block has no memory. Movable; a moved-from block is empty. A
// field argument must not view the same block.
class FieldBlock {
 public:
  FieldBlock Clone() const;

  size_t count() const { return memory_ ? header().count : 0; }
  size_t bytes() const { return memory_ ? header().bytes : 0; }  // of all fields, packed
  size_t BytesUsed() const;  // on the heap, allocator rounding included

  // To iterate: the place after the last field is bytes(). O(1).
  Field At(size_t place) const { return Unpack(fields() + place); }
  size_t PlaceAfter(size_t place) const { return At(place).end() - fields(); }

  // The place of the field with that name, or bytes() if it does not exist; the place of the field
  // with that index. O(count).
  size_t PlaceOf(std::string_view name) const;
  size_t PlaceAt(size_t index) const;

  // Adds a field whose name does not exist, as the last one. O(bytes) at worst.
  void Append(const Field& field);

  // Replaces or removes the field at that place. O(bytes).
  void Replace(size_t place, const Field& field);
  void Erase(size_t place);

 private:
  struct Header {
    uint32_t count = 0;
    uint32_t bytes = 0;
    uint32_t capacity = 0;
  };

  Header& header() const { return *reinterpret_cast<Header*>(memory_.get()); }
  char* fields() const { return memory_.get() + sizeof(Header); }

  char* OpenGap(size_t place, size_t old_bytes, size_t new_bytes);
  void MoveTo(size_t capacity);

  std::unique_ptr<char[]> memory_;
};

}  // namespace zsetd
