#include <cassert>
#include <memory>
#include <string_view>

#include "core/sorted_set/element_sampler.h"
#include "core/util/sample.h"
#include "server/commands/common/random_request.h"
#include "server/commands/zset/families.h"
#include "server/commands/zset/zset_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

SortedSet::Cursor AtRandom(const SortedSet& set, Rng& rng) {
  assert(!set.empty());
  return set.At(rng.Below(set.size()));
}

void ReplyOne(Call& call, const SortedSet* set) {
  if (set == nullptr) return call.reply.Null();
  call.reply.Bulk(AtRandom(*set, call.keys.rng()).member());
}

ElementParts PartsOf(const RandomRequest& request) {
  return {.score = request.with_more, .payload = request.with_data};
}

void DrawOne(ReplyWriter& reply, const SortedSet& set, Rng& rng, const ElementParts& parts) {
  ReplyElement(reply, AtRandom(set, rng), parts);
}
void DrawOne(ReplyWriter& reply, ElementSampler& pool, Rng& rng, const ElementParts& parts) {
  const Element drawn = pool.Draw(rng);
  ReplyElement(reply, drawn, parts.payload ? pool.drawn_payload() : std::nullopt, parts);
}

void ReplyRepeated(Call& call, std::string_view key, const SortedSet& set,
                   const RandomRequest& request) {
  StartElements(call.reply, request.size(), PartsOf(request));
  const auto form = set.has_form() ? std::make_shared<const ScoreForm>(set.form()) : nullptr;
  ElementParts parts = PartsIn(set, PartsOf(request), call.now());
  parts.form = form.get();
  const auto draw = [parts, form](ReplyWriter& reply, auto& whole, Rng& rng) {
    DrawOne(reply, whole, rng, parts);
  };
  ReplyDraws<ElementSampler>(
      call, key, set, [&] { return std::make_shared<ElementSampler>(set); }, request.size(), draw);
}

// If all elements are requested, replies the highest first, as in Redis.
void ReplyDistinct(Call& call, const SortedSet& set, const RandomRequest& request) {
  if (request.size() >= set.size()) {
    return ReplyElements(call, &set, {0, set.size()}, /*reversed=*/true, PartsOf(request));
  }
  StartElements(call.reply, request.size(), PartsOf(request));
  for (const size_t rank : DistinctNumbers(request.size(), set.size(), call.keys.rng())) {
    ReplyElement(call.reply, set.At(rank), PartsIn(set, PartsOf(request), call.now()));
  }
}

void ZRandMember(Call& call) {
  const std::string_view key = call.args.Word();
  const RandomRequest request = TakeRandomRequest(call.args, "withscores", /*may_have_data=*/true);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  if (!request.counted) return ReplyOne(call, set);
  if (set == nullptr) return call.reply.Array(0);
  request.may_repeat() ? ReplyRepeated(call, key, *set, request)
                       : ReplyDistinct(call, *set, request);
}

constexpr Command kZSetRandomCommands[] = {
    {.name = "zrandmember",
     .run = ZRandMember,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "6.2.0",
     .usage = "key [count [WITHSCORES] [WITHDATA]]",
     .summary = "Returns random members.",
     .cost = "O(N*log(M)) for N members returned of M",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> ZSetRandomCommands() { return kZSetRandomCommands; }

}  // namespace zsetd
