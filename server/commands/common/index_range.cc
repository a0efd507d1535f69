#include "server/commands/common/index_range.h"

#include <algorithm>

namespace zsetd {
namespace {

// Converts an index to one that counts from the front. It stays negative if it is before the front.
int64_t FromFront(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

}  // namespace

RankRange IndexRange::Within(size_t size) const {
  const int64_t length = static_cast<int64_t>(size);
  const int64_t first = std::max<int64_t>(FromFront(start, length), 0);
  const int64_t final = std::min(FromFront(stop, length), length - 1);
  if (first > final) return RankRange();
  return {.first = static_cast<size_t>(first), .last = static_cast<size_t>(final) + 1};
}

RankRange IndexRange::WithinString(size_t size) const {
  const bool stops_before_first = stop < -static_cast<int64_t>(size);
  return IndexRange{.start = start, .stop = stops_before_first ? 0 : stop}.Within(size);
}

IndexRange TakeIndexRange(ArgReader& args) {
  const int64_t start = args.Integer();
  const int64_t stop = args.Integer();
  return {.start = start, .stop = stop};
}

std::optional<size_t> IndexWithin(int64_t index, size_t size) {
  const int64_t length = static_cast<int64_t>(size);
  const int64_t place = FromFront(index, length);
  if (place < 0 || place >= length) return std::nullopt;
  return static_cast<size_t>(place);
}

}  // namespace zsetd
