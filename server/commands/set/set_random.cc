#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "core/hash/hash.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/common/random_request.h"
#include "server/commands/set/families.h"
#include "server/commands/set/set_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

int64_t TakePopCount(ArgReader& args) {
  if (args.left() > 1) args.Refuse(kSyntaxError);
  return args.IntegerIn(0, std::numeric_limits<int64_t>::max(), kMustBePositive);
}

void PopOne(Call& call, const Edit<Set>& set, PropagatedItems& popped) {
  assert(!set->empty());
  const std::string_view member = set->Random(call.keys.rng());
  call.reply.Bulk(member);
  popped.Add({member});
  set.Remove(member);
}

void RecordMembers(const Edit<Set>& set) {
  uint64_t cursor = 0;
  do {
    cursor = set->Scan(cursor, [&](std::string_view member) { set.RecordSubkey(member); });
  } while (cursor != 0);
}

void PopAll(Call& call, std::string_view key, Edit<Set>& set) {
  call.Propagate({"DEL", key});
  if (set.RecordsSubkeys()) RecordMembers(set);
  ReplyMembers(call, &*set);
  set.FreeLater(std::make_shared<Set>(set->TakeAll()));
}

void SPop(Call& call) {
  const std::string_view key = call.args.Word();
  const bool counted = !call.args.AtEnd();
  const uint64_t count = counted ? TakePopCount(call.args) : 1;
  Edit<Set> set = call.Open<Set>(key, KeyEvent::kSPop);
  if (call.Refused()) return;
  if (!set) return counted ? call.reply.Set(0) : call.reply.Null();
  if (counted && count >= set->size()) return PopAll(call, key, set);
  if (counted) call.reply.Set(count);
  PropagatedItems popped(call, "SREM", key, count);
  for (uint64_t left = count; left > 0; --left) PopOne(call, set, popped);
}

void ReplyDraw(ReplyWriter& reply, const Set& set, Rng& rng) { reply.Bulk(set.Random(rng)); }

void ReplyDistinct(Call& call, const Set& set, size_t count) {
  const std::vector<Field> members = set.Sample(count, call.keys.rng());
  call.reply.Array(members.size());
  for (const Field& member : members) call.reply.Bulk(member.name);
}

void SRandMember(Call& call) {
  const std::string_view key = call.args.Word();
  const RandomRequest request = TakeRandomRequest(call.args);
  const Set* set = call.Find<Set>(key);
  if (call.Refused()) return;
  if (set == nullptr) return request.counted ? call.reply.Array(0) : call.reply.Null();
  if (!request.counted) return ReplyDraw(call.reply, *set, call.keys.rng());
  if (!request.may_repeat()) return ReplyDistinct(call, *set, request.size());
  call.reply.Array(request.size());
  ReplyDraws(call, key, *set, request.size(), ReplyDraw);
}

constexpr Command kSetRandomCommands[] = {
    {.name = "spop",
     .run = SPop,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key [count]",
     .summary = "Removes and returns random members.",
     .cost = "O(M) for M members removed",
     .key_use = "RW access delete",
     .tips = "nondeterministic_output"},
    {.name = "srandmember",
     .run = SRandMember,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSet,
     .since = "1.0.0",
     .usage = "key [count]",
     .summary = "Returns random members.",
     .cost = "O(M) for M members returned, O(N) if that is more than a quarter of N",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> SetRandomCommands() { return kSetRandomCommands; }

}  // namespace zsetd
