#include "server/commands/zset_add.h"

#include <cstdint>

namespace zsetd {

Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule) {
  const std::string_view event = rule.increment ? "zincr" : "zadd";
  return rule.only_existing ? call.Open<SortedSet>(key, event)
                            : call.OpenOrMake<SortedSet>(key, event);
}

void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request) {
  using Kind = AddResult::Kind;
  int64_t counted = 0;
  for (const Element& pair : request.pairs) {
    if (!set) break;
    const Kind kind = set->Add(pair.member, pair.score, request.rule).kind;
    counted += kind == Kind::kAdded || (request.count_changed && kind == Kind::kUpdated);
  }
  call.reply.Integer(counted);
}

}  // namespace zsetd
