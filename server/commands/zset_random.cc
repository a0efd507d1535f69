#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "core/element_pool.h"
#include "core/sample.h"
#include "server/commands/families.h"
#include "server/commands/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr int64_t kMostDrawn = std::numeric_limits<int64_t>::max();
constexpr size_t kManyDraws = 1000;             // fewer are replied at once
constexpr size_t kMostDrawsQueued = 1'000'000;  // a transaction's replies are kept as a whole
constexpr std::string_view kNotACount =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";

// How many elements are asked for. A negative count is that of draws from the whole set, in which
// an element may come more than once.
struct RandomRequest {
  int64_t count = 0;
  bool with_scores = false;

  bool may_repeat() const { return count < 0; }
  size_t size() const { return may_repeat() ? -count : count; }
};

int64_t TakeCount(ArgReader& args) {
  const int64_t count = args.Integer();
  if (count < -kMostDrawn) args.Refuse(kNotACount);
  return count;
}

RandomRequest TakeRandomRequest(ArgReader& args) {
  RandomRequest request = {.count = TakeCount(args)};
  request.with_scores = args.Take("withscores");
  args.End();
  if (request.with_scores && request.size() > kMostDrawn / 2) {
    args.Refuse("ERR value is out of range");  // RESP2 counts two for each element
  }
  return request;
}

SortedSet::Cursor AtRandom(const SortedSet& set, Rng& rng) { return set.At(rng.Below(set.size())); }

void ReplyOne(Call& call, const SortedSet* set) {
  if (set == nullptr) return call.reply.Null();
  call.reply.Bulk(AtRandom(*set, call.engine.rng()).element().member);
}

// Draws without end, or nearly, from a set as it was when they began.
class LongDraws : public LongReply {
 public:
  LongDraws(const SortedSet& set, const RandomRequest& request, Rng& rng)
      : pool_(set), with_scores_(request.with_scores), left_(request.size()), rng_(rng) {}

  bool WriteNext(ReplyWriter& reply) override {
    ReplyElement(reply, pool_.Draw(rng_), with_scores_);
    return --left_ > 0;
  }

 private:
  ElementPool pool_;
  bool with_scores_;
  size_t left_;
  Rng& rng_;
};

// A copy of the set is made only for a reply that is longer than the set.
void ReplyDraws(Call& call, const SortedSet& set, const RandomRequest& request) {
  Rng& rng = call.engine.rng();
  if (call.client.transaction.open && request.size() > kMostDrawsQueued) {
    return call.Fail("ERR value is out of range, too many for a transaction");
  }
  StartElements(call.reply, request.size(), request.with_scores);
  if (request.size() > std::max(kManyDraws, set.size())) {
    return call.ReplyAtLength(std::make_unique<LongDraws>(set, request, rng));
  }
  for (size_t left = request.size(); left > 0; --left) {
    ReplyElement(call.reply, AtRandom(set, rng).element(), request.with_scores);
  }
}

// Where all are asked for they come the highest first, as Redis gives them.
void ReplyDistinct(Call& call, const SortedSet& set, const RandomRequest& request) {
  if (request.size() >= set.size()) {
    return ReplyElements(call, &set, {0, set.size()}, /*reversed=*/true, request.with_scores);
  }
  StartElements(call.reply, request.size(), request.with_scores);
  for (const size_t rank : DistinctNumbers(request.size(), set.size(), call.engine.rng())) {
    ReplyElement(call.reply, set.At(rank).element(), request.with_scores);
  }
}

void ZRandMember(Call& call) {
  const std::string_view key = call.args.Word();
  const bool counted = !call.args.AtEnd();
  const RandomRequest request = counted ? TakeRandomRequest(call.args) : RandomRequest();
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  if (!counted) return ReplyOne(call, set);
  if (set == nullptr) return call.reply.Array(0);
  request.may_repeat() ? ReplyDraws(call, *set, request) : ReplyDistinct(call, *set, request);
}

constexpr Command kCommands[] = {
    {.name = "zrandmember",
     .run = ZRandMember,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "key [count [WITHSCORES]]",
     .summary = "Tells members drawn by chance.",
     .cost = "O(N*log(M)) for N members told of M"},
};

}  // namespace

std::span<const Command> ZSetRandomCommands() { return kCommands; }

}  // namespace zsetd
