#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/util/range.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Two indexes as a client writes them. Both ends are included. A negative index counts from the
// end; -1 is the last element.
struct IndexRange {
  int64_t start = 0;
  int64_t stop = 0;

  // The part of the range that is within `size` elements.
  RankRange Within(size_t size) const;

  // Like `Within()`, but for strings and their bits, as in Redis: an end before the first byte or
  // bit becomes the first.
  RankRange WithinString(size_t size) const;

  // Whether both ends count from the end and the first one is after the other.
  bool IsTurnedAround() const { return start < 0 && stop < 0 && start > stop; }
};

// Takes the next two arguments.
IndexRange TakeIndexRange(ArgReader& args);

// The position of `index` among `size` elements; nullopt if it does not exist.
std::optional<size_t> IndexWithin(int64_t index, size_t size);

}  // namespace zsetd
