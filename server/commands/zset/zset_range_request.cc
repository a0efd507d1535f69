#include "server/commands/zset/zset_range_request.h"

#include <algorithm>

#include "server/commands/zset/zset_bounds.h"

namespace zsetd {
namespace {

using By = RangeRequest::By;

RangeRequest::Limit TakeLimit(ArgReader& args) {
  const int64_t offset = args.Integer();
  const int64_t count = args.Integer();
  return {.offset = offset, .count = count};
}

bool TakeRangeOption(ArgReader& args, RangeRequest& request) {
  if (request.may_have_parts && args.Take("withscores")) {
    request.parts.score = true;
  } else if (request.may_have_parts && args.Take("withdata")) {
    request.parts.payload = true;
  } else if (!request.reversed && args.Take("rev")) {
    request.reversed = true;
  } else if (!request.by && args.Take("byscore")) {
    request.by = By::kScore;
  } else if (!request.by && args.Take("bylex")) {
    request.by = By::kLex;
  } else if (request.may_match && !request.pattern && args.left() >= 2 && args.Take("match")) {
    request.pattern = args.Word();
  } else if (args.left() >= 3 && args.Take("limit")) {
    request.limit = TakeLimit(args);
  } else {
    return false;
  }
  return true;
}

// As in Redis, a LIMIT with a count of -1 is ignored, with its offset, for a range of ranks. With a
// pattern, which Redis does not have, a range of ranks may be limited.
void CheckOptions(ArgReader& args, RangeRequest& request) {
  const By by = request.by.value_or(By::kRank);
  if (request.limit && by == By::kRank && !request.pattern) {
    if (request.limit->count != -1) {
      args.Refuse(
          "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
    }
    request.limit.reset();
  }
  if (request.parts.score && by == By::kLex) {
    args.Refuse("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
}

void TakeEnds(ArgReader& args, Millis now, RangeRequest& request) {
  switch (request.by.value_or(By::kRank)) {
    case By::kRank:
      request.range = TakeIndexRange(args);
      break;
    case By::kScore:
      TakeTimedScoreRange(args, request.IsReversed(), request.range.emplace<TimedScoreRange>());
      request.now = now;
      break;
    case By::kLex:
      request.range = TakeLexRange(args, request.IsReversed());
      break;
  }
}

// The limit counts from the highest element if `reversed`.
RankRange Cut(RankRange ranks, const RangeRequest::Limit& limit, bool reversed) {
  const size_t size = ranks.size();
  if (limit.offset < 0 || static_cast<uint64_t>(limit.offset) >= size) return {};
  const size_t left = size - limit.offset;
  const size_t count = limit.count < 0 ? left : std::min<size_t>(left, limit.count);
  if (reversed) return {ranks.last - limit.offset - count, ranks.last - limit.offset};
  return {ranks.first + limit.offset, ranks.first + limit.offset + count};
}

RankRange RanksOf(const SortedSet& set, const IndexRange& range, const RangeRequest& request) {
  const RankRange ranks = range.Within(set.size());
  return request.IsReversed() ? RankRange{set.size() - ranks.last, set.size() - ranks.first}
                              : ranks;
}

RankRange RanksOf(const SortedSet& set, const TimedScoreRange& range, const RangeRequest& request) {
  return range.RanksIn(set, request.now);
}

RankRange RanksOf(const SortedSet& set, const LexRange& range, const RangeRequest&) {
  return set.Ranks(range);
}

}  // namespace

void RangeRequest::CheckSuits(Call& call, const SortedSet* set) const {
  if (const auto* const scores = std::get_if<TimedScoreRange>(&range)) {
    zsetd::CheckSuits(call, *scores, set);
  }
}

RankRange RangeRequest::RanksIn(const SortedSet& set) const {
  const RankRange ranks =
      std::visit([&](const auto& ends) { return RanksOf(set, ends, *this); }, range);
  return limit && !pattern ? Cut(ranks, *limit, IsReversed()) : ranks;
}

// The options are the last arguments but determine how the two ends are parsed, so they are parsed
// first.
RangeRequest TakeRangeRequest(ArgReader& args, Millis now, const RangeRequest& implied) {
  RangeRequest request = implied;
  ArgReader ends(args.Next(2), 0);
  while (args.ok() && !args.AtEnd()) {
    if (!TakeRangeOption(args, request)) args.Refuse(kSyntaxError);
  }
  CheckOptions(args, request);
  TakeEnds(ends, now, request);
  args.Refuse(ends.status());
  return request;
}

}  // namespace zsetd
