#include "server/commands/zset/zset_add.h"

#include <cstdint>

#include "server/commands/common/encoding.h"

namespace zsetd {

Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule) {
  const std::string_view event = rule.increment ? "zincr" : "zadd";
  return rule.only_existing ? call.Open<SortedSet>(key, event)
                            : call.OpenOrMake<SortedSet>(key, event);
}

AddResult AddOne(SortedSet& set, const Element& pair, const AddRule& rule,
                 const SortedSetLimits& limits) {
  const AddResult result = set.Add(pair.member, pair.score, rule);
  if (result.kind == AddResult::Kind::kAdded) set.Expect(set.size(), pair.member.size(), limits);
  return result;
}

void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request) {
  using Kind = AddResult::Kind;
  const SortedSetLimits limits = SortedSetLimitsOf(call.engine.settings());
  if (set && set->empty()) {
    set->Expect(request.pairs.size(), request.pairs.front().member.size(), limits);
  }
  int64_t counted = 0;
  for (const Element& pair : request.pairs) {
    if (!set) break;
    const Kind kind = AddOne(*set, pair, request.rule, limits).kind;
    counted += kind == Kind::kAdded || (request.count_changed && kind == Kind::kUpdated);
  }
  call.reply.Integer(counted);
}

}  // namespace zsetd
