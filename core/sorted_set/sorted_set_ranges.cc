// Which elements lie in a range of scores or of members.

#include <string>

#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {
namespace {

// The first code of the range, and the first behind it.
uint64_t FirstCode(const ScoreBound& min) {
  return ScoreCode(WithoutNegativeZero(min.score)) + (min.exclusive ? 1 : 0);
}
uint64_t EndCode(const ScoreBound& max) {
  return ScoreCode(WithoutNegativeZero(max.score)) + (max.exclusive ? 0 : 1);
}

// The least member behind all that lie below the bound, or behind all up to it.
std::string Behind(std::string_view member) { return std::string(member) + '\0'; }
std::string FirstMember(const LexBound& min) {
  return min.exclusive ? Behind(min.member) : std::string(min.member);
}
std::string EndMember(const LexBound& max) {
  return max.exclusive ? std::string(max.member) : Behind(max.member);
}

}  // namespace

size_t SortedSet::CountBefore(uint64_t code, std::string_view member) const {
  if (list()) return list()->CountBefore(code, member);
  return only() ? only()->LowerBound(code, member) : 0;
}

RankRange SortedSet::Ranks(const ScoreRange& range) const {
  if (range.empty()) return {};
  return {CountBefore(FirstCode(range.min), {}), CountBefore(EndCode(range.max), {})};
}

// All scores being equal, the first one's tells where to look. Where they are not, Redis's search
// goes by the members all the same, which finds them as long as they too are in order.
size_t SortedSet::CountBefore(std::string_view member) const {
  const double score = At(0).element().score;
  if (At(size() - 1).element().score == score) return CountBefore(ScoreCode(score), member);
  size_t low = 0, high = size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    At(middle).element().member < member ? low = middle + 1 : high = middle;
  }
  return low;
}

RankRange SortedSet::Ranks(const LexRange& range) const {
  using Kind = LexBound::Kind;
  if (empty()) return {};
  const auto ranks_before = [&](const LexBound& bound, const std::string& member) {
    if (bound.kind != Kind::kMember) return bound.kind == Kind::kLowest ? 0 : size();
    return CountBefore(member);
  };
  return {ranks_before(range.min, FirstMember(range.min)),
          ranks_before(range.max, EndMember(range.max))};
}

}  // namespace zsetd
