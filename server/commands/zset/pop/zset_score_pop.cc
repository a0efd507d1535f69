#include "server/commands/zset/pop/zset_score_pop.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/zset/zset_bounds.h"
#include "server/commands/zset/zset_cut.h"
#include "server/commands/zset/zset_reply.h"

namespace zsetd {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

}  // namespace

RankRange ScorePopRequest::RanksIn(const SortedSet& set, Millis now) const {
  const RankRange all = scores.RanksIn(set, now);
  const size_t taken = std::min<uint64_t>(all.size(), count.value_or(1));
  return reversed ? RankRange{all.last - taken, all.last} : RankRange{all.first, all.first + taken};
}

bool TakeScorePopOption(ArgReader& args, ScorePopRequest& request) {
  if (!request.reversed && args.Take("rev")) {
    request.reversed = true;
    return true;
  }
  if (!request.with_payloads && args.Take("withdata")) {
    request.with_payloads = true;
    return true;
  }
  if (!request.count && args.left() >= 2 && args.Take("count")) {
    request.count =
        static_cast<uint64_t>(args.IntegerIn(1, kMost, "ERR count should be greater than 0"));
    return true;
  }
  return false;
}

ScorePopRequest TakeScorePopRequest(ArgReader& args) {
  ScorePopRequest request = {.scores = TakeTimedScoreRange(args)};
  while (args.ok() && !args.AtEnd()) {
    if (!TakeScorePopOption(args, request)) args.Refuse(kSyntaxError);
  }
  return request;
}

void ReplyPopped(Call& call, const SortedSet& set, RankRange ranks,
                 const ScorePopRequest& request) {
  if (request.count) {
    ReplyElements(call, &set, ranks, request.reversed,
                  {.score = true, .payload = request.with_payloads});
  } else {
    ReplyTuple(call, set, ranks.first, request.with_payloads);
  }
}

void ReplyKeyAndPopped(Call& call, std::string_view key, const SortedSet& set, RankRange ranks,
                       const ScorePopRequest& request) {
  if (request.count) {
    ReplyKeyAndTuples(call, key, set, ranks, request.reversed, request.with_payloads);
  } else {
    ReplyKeyAndElement(call, key, set, ranks.first, request.with_payloads);
  }
}

void PopRanks(Call& call, std::string_view key, Edit<SortedSet>& set, RankRange ranks) {
  assert(!ranks.empty());
  RemovedMembers members(call, *set, ranks);
  CutRanks(set, ranks);
  if (members.Propagate(key) || !call.Propagates()) return;
  call.Propagate({"ZREMRANGEBYRANK", key, IntegerText(static_cast<int64_t>(ranks.first)),
                  IntegerText(static_cast<int64_t>(ranks.last) - 1)});
}

}  // namespace zsetd
