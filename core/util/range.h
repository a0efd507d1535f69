#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zsetd {

// The three kinds of ranges of a sorted set. The other two are converted to a RankRange.

// The elements with first <= rank < last, ranks counted from 0 at the lowest element.
struct RankRange {
  size_t first = 0;
  size_t last = 0;

  size_t size() const { return last > first ? last - first : 0; }
  bool empty() const { return size() == 0; }
};

// One end of a range of scores. As in Redis, infinite scores are ordinary scores.
struct ScoreBound {
  double score = 0;
  bool exclusive = false;
};

struct ScoreRange {
  ScoreBound min;
  ScoreBound max;

  // Whether no score is in the range.
  bool empty() const {
    return min.score > max.score || (min.score == max.score && (min.exclusive || max.exclusive));
  }
};

// One end of a range of members in byte order, for sets whose scores are all equal.
struct LexBound {
  enum class Kind { kLowest, kMember, kHighest };  // Redis writes them -, [x or (x, +

  Kind kind = Kind::kLowest;
  std::string_view member;  // of the request; only for kMember
  bool exclusive = false;
};

struct LexRange {
  LexBound min;
  LexBound max;
};

}  // namespace zsetd
