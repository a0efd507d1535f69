#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zsetd {

// The three ways to name a stretch of a sorted set. Every one of them ends up as a RankRange.

// The elements with first <= rank < last, ranks counted from 0 at the lowest element.
struct RankRange {
  size_t first = 0;
  size_t last = 0;

  size_t size() const { return last > first ? last - first : 0; }
  bool empty() const { return size() == 0; }
};

// One end of a range of scores. Infinite scores are ordinary scores here, as in Redis.
struct ScoreBound {
  double score = 0;
  bool exclusive = false;
};

struct ScoreRange {
  ScoreBound min;
  ScoreBound max;

  // Nothing can lie in it, whatever the set holds.
  bool empty() const {
    return min.score > max.score || (min.score == max.score && (min.exclusive || max.exclusive));
  }
};

// One end of a range of members in byte order, meant for sets whose scores are all equal.
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
