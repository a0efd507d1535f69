// Payloads of members: ZSETDATA, ZGETDATA and ZDELDATA.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/member_payloads.h"
#include "server/commands/zset/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// Sets the payload of a member, or removes it. Returns whether that was a change.
bool ChangePayload(const Edit<SortedSet>& set, std::string_view member,
                   std::optional<std::string_view> payload, PropagatedPayloads& propagated) {
  if (!set->SetPayload(member, payload)) return false;
  set.RecordSubkey(member);
  propagated.Add(member, payload);
  return true;
}

// Replies the number of members that exist.
void ZSetData(Call& call) {
  const std::string_view key = call.args.Word();
  const Args words = call.args.Rest();
  if (words.size() % 2 != 0) call.args.Refuse(WrongArity(call.command.name));
  PropagatedPayloads propagated(call, key);
  const Edit<SortedSet> set = call.Open<SortedSet>(key, KeyEvent::kZSetData);
  if (call.Refused()) return;
  size_t found = 0;
  for (size_t i = 0; set && i < words.size(); i += 2) {
    const bool changes = ChangePayload(set, words[i], words[i + 1], propagated);
    found += changes || set->Contains(words[i]);
  }
  call.reply.Integer(static_cast<int64_t>(found));
}

void ZGetData(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* const set = call.Find<SortedSet>(key);
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) {
    const auto payload = set == nullptr ? std::nullopt : set->Payload(member);
    payload ? call.reply.Bulk(*payload) : call.reply.Null();
  }
}

void ZDelData(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  PropagatedPayloads propagated(call, key);
  const Edit<SortedSet> set = call.Open<SortedSet>(key, KeyEvent::kZDelData);
  if (call.Refused()) return;
  size_t deleted = 0;
  for (const std::string_view member : members) {
    deleted += set && ChangePayload(set, member, std::nullopt, propagated);
  }
  call.reply.Integer(static_cast<int64_t>(deleted));
}

constexpr Command kZSetPayloadCommands[] = {
    {.name = "zsetdata",
     .run = ZSetData,
     .arity = -4,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member data [member data ...]",
     .summary = "Sets the payloads of members, which are kept until the members are removed.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "zgetdata",
     .run = ZGetData,
     .arity = -3,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member [member ...]",
     .summary = "Returns the payloads of members.",
     .cost = "O(1) for each member"},
    {.name = "zdeldata",
     .run = ZDelData,
     .arity = -3,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kSortedSet,
     .since = kZsetdOnly,
     .usage = "key member [member ...]",
     .summary = "Deletes the payloads of members, but not the members.",
     .cost = "O(1) for each member",
     .key_use = "RW delete"},
};

}  // namespace

std::span<const Command> ZSetPayloadCommands() { return kZSetPayloadCommands; }

}  // namespace zsetd
