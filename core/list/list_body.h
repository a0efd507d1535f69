#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/list/list.h"

namespace zsetd {

// What a List keeps, and the changes it is made of; only the list knows it.
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

inline void List::Body::Count(std::string_view added) {
  ++size;
  packed_bytes += ListChunk::PackedBytes(added);
  ++revision;
}

}  // namespace zsetd
