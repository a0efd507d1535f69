#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/util/range.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Two indices as a client writes them: both ends are included, and a negative one counts from the
// end, -1 being the last element.
struct IndexRange {
  int64_t start = 0;
  int64_t stop = 0;

  // The part of it within `size` elements.
  RankRange Within(size_t size) const;

  // Like the function above, for BITCOUNT and BITPOS, which replace an end before the first byte or
  // bit by it.
  RankRange WithinString(size_t size) const;

  // Whether both ends count from the end, the first one behind the other.
  bool IsTurnedAround() const { return start < 0 && stop < 0 && start > stop; }
};

// Takes the next two arguments.
IndexRange TakeIndexRange(ArgReader& args);

// The position that `index` refers to among `size` elements, if there is one.
std::optional<size_t> IndexWithin(int64_t index, size_t size);

}  // namespace zsetd
