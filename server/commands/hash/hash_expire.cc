// Deadlines of fields: HEXPIRE and similar commands, HGETEX, HSETEX and HGETDEL, as in Redis 8.0.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash/hash.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/encoding.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"
#include "server/engine/command/usage_text.h"

namespace zsetd {
namespace {

void HExpire(Call& call) { ExpireElements<Hash>(call, {call.now(), kSecond}, kFieldWords); }
void HPExpire(Call& call) { ExpireElements<Hash>(call, {call.now(), kMilli}, kFieldWords); }
void HExpireAt(Call& call) { ExpireElements<Hash>(call, {kEpoch, kSecond}, kFieldWords); }
void HPExpireAt(Call& call) { ExpireElements<Hash>(call, {kEpoch, kMilli}, kFieldWords); }

void HTtl(Call& call) { ReplyElementDeadlines<Hash>(call, {call.now(), kSecond}, kFieldWords); }
void HPTtl(Call& call) { ReplyElementDeadlines<Hash>(call, {call.now(), kMilli}, kFieldWords); }
void HExpireTime(Call& call) { ReplyElementDeadlines<Hash>(call, {kEpoch, kSecond}, kFieldWords); }
void HPExpireTime(Call& call) { ReplyElementDeadlines<Hash>(call, {kEpoch, kMilli}, kFieldWords); }

void HPersist(Call& call) { PersistElements<Hash>(call, kFieldWords); }

void ReplyValue(ReplyWriter& reply, std::optional<std::string_view> value) {
  if (value) {
    reply.Bulk(*value);
  } else {
    reply.Null();
  }
}

void HGetDel(Call& call) {
  const std::string_view key = call.args.Word();
  CheckType<Hash>(call, key);
  const Args names = TakeElements(call, kFieldWords);
  std::vector<std::string_view> removed;
  {
    const Edit<Hash> hash = call.Open<Hash>(key, kFieldWords.remove_event);
    if (call.Refused()) return;
    call.reply.Array(names.size());
    for (const std::string_view name : names) {
      ReplyValue(call.reply, hash ? hash->Get(name) : std::nullopt);
      if (!hash || !hash.Remove(name)) continue;
      removed.push_back(name);
    }
  }
  PropagateElementRemoval(call, key, removed, kFieldWords);
}

// The change that HGETEX makes to the deadlines of the fields that it returns.
struct FieldDeadlineChange {
  std::optional<Millis> deadline;
  bool persists = false;
};

FieldDeadlineChange TakeChange(Call& call) {
  FieldDeadlineChange change;
  change.deadline = TakeElementDeadline(call);
  if (!change.deadline) change.persists = call.args.Take("persist");
  return change;
}

void HGetEx(Call& call) {
  const std::string_view key = call.args.Word();
  CheckType<Hash>(call, key);
  const FieldDeadlineChange change = TakeChange(call);
  const Args names = TakeElements(call, kFieldWords);
  const bool has_passed = change.deadline && HasPassed(call, *change.deadline);
  const KeyEvent event = has_passed        ? kFieldWords.remove_event
                         : change.persists ? kFieldWords.persist_event
                                           : kFieldWords.expire_event;
  std::vector<std::string_view> changed;
  {
    const Edit<Hash> hash = call.Open<Hash>(key, event);
    if (call.Refused()) return;
    call.reply.Array(names.size());
    for (const std::string_view name : names) {
      const std::optional<std::string_view> value = hash ? hash->Get(name) : std::nullopt;
      ReplyValue(call.reply, value);
      if (!value) continue;
      const bool changes = has_passed ? hash->Remove(name)
                           : change.deadline
                               ? hash->SetDeadline(name, change.deadline)
                               : change.persists && hash->SetDeadline(name, std::nullopt);
      if (!changes) continue;
      hash.RecordSubkey(name);
      changed.push_back(name);
    }
  }
  if (has_passed) return PropagateElementRemoval(call, key, changed, kFieldWords);
  PropagateElementDeadline(call, key, changed, change.deadline, kFieldWords);
}

struct SetExRequest {
  bool only_new = false;       // FNX: only if none of the fields exists
  bool only_existing = false;  // FXX: only if all fields exist
  bool keep_deadline = false;  // KEEPTTL
  std::optional<Millis> deadline;
  Args fields;  // names and values
};

bool TakeCondition(ArgReader& args, SetExRequest& request) {
  const bool is_second = request.only_new || request.only_existing;
  if (args.Take("fnx")) {
    request.only_new = true;
  } else if (args.Take("fxx")) {
    request.only_existing = true;
  } else {
    return false;
  }
  if (is_second) args.Refuse("ERR Only one of FXX or FNX arguments can be specified");
  return true;
}

SetExRequest TakeSetExRequest(Call& call) {
  ArgReader& args = call.args;
  SetExRequest request;
  while (args.ok() && !args.AtEnd() && !args.Take("fields")) {
    if (TakeCondition(args, request) ||
        TakeElementDeadlineOption(call, request.deadline, request.keep_deadline)) {
      continue;
    }
    args.Refuse("ERR unknown argument: " + std::string(args.Peek()));
  }
  if (!args.ok()) return request;
  const std::string arity = WrongArity("hsetex");
  if (args.left() < 3) args.Refuse(arity);
  const int64_t count =
      args.IntegerIn(1, std::numeric_limits<int>::max(), "ERR invalid number of fields");
  request.fields = args.Rest();
  if (request.fields.size() != 2 * static_cast<size_t>(count)) args.Refuse(arity);
  return request;
}

bool IsAllowed(const Hash& hash, const SetExRequest& request) {
  size_t found = 0;
  for (size_t i = 0; i < request.fields.size(); i += 2) found += hash.Contains(request.fields[i]);
  if (request.only_new) return found == 0;
  return !request.only_existing || found == request.fields.size() / 2;
}

// Sets the fields. Returns false if the condition does not allow it.
bool SetFieldsWithDeadline(Call& call, std::string_view key, const SetExRequest& request) {
  const Edit<Hash> hash = request.only_existing ? call.Open<Hash>(key, KeyEvent::kHSet)
                                                : call.OpenOrMake<Hash>(key, KeyEvent::kHSet);
  if (call.Refused() || !hash || !IsAllowed(*hash, request)) return false;
  hash.Announce(request.fields.size() / 2);
  const auto old_deadline = request.keep_deadline || request.deadline ? Hash::OldDeadline::kKeep
                                                                      : Hash::OldDeadline::kRemove;
  for (size_t i = 0; i < request.fields.size(); i += 2) {
    hash.Set(request.fields[i], request.fields[i + 1], old_deadline);
  }
  return true;
}

// Redis receives only the values; zsetd receives the deadlines, too. Setting a field removes its
// deadline, so a deadline that is kept is propagated again.
void PropagateSetEx(Call& call, std::string_view key, const SetExRequest& request) {
  if (!call.Propagates()) return;
  PropagatedItems items(call, "HSET", key, request.fields.size() / 2, 2);
  for (size_t i = 0; i < request.fields.size(); i += 2) {
    items.Add({request.fields[i], request.fields[i + 1]});
  }
  const Entry* entry = call.keys.all().Find(key);
  const Hash* hash = entry == nullptr ? nullptr : entry->GetIf<Hash>();
  if (!request.keep_deadline || hash == nullptr) return;
  for (size_t i = 0; i < request.fields.size(); i += 2) {
    const std::optional<Millis> deadline = hash->Deadline(request.fields[i]);
    if (deadline) {
      PropagateElementDeadline(call, key, {request.fields[i]}, deadline, kFieldWords);
    }
  }
}

void ExpireFields(Call& call, std::string_view key, const SetExRequest& request) {
  const Millis deadline = *request.deadline;
  const bool has_passed = HasPassed(call, deadline);
  std::vector<std::string_view> changed;
  {
    const Edit<Hash> hash =
        call.Open<Hash>(key, has_passed ? kFieldWords.remove_event : kFieldWords.expire_event);
    for (size_t i = 0; i < request.fields.size(); i += 2) {
      const std::string_view name = request.fields[i];
      const int64_t done =
          ExpireElement(*hash, name, ElementCondition::kNone, deadline, has_passed);
      if (done <= 0) continue;
      hash.RecordSubkey(name);
      changed.push_back(name);
    }
  }
  if (has_passed) {
    PropagateElementRemoval(call, key, changed, kFieldWords);
  } else {
    PropagateElementDeadline(call, key, changed, deadline, kFieldWords);
  }
}

void HSetEx(Call& call) {
  const std::string_view key = call.args.Word();
  const SetExRequest request = TakeSetExRequest(call);
  const bool is_set = SetFieldsWithDeadline(call, key, request);
  if (call.refused()) return;
  if (is_set) {
    PropagateSetEx(call, key, request);
    if (request.deadline) ExpireFields(call, key, request);
  }
  call.reply.Integer(is_set);
}

constexpr uint32_t kSets = kWrite | kDenyOom | kFast;
constexpr uint32_t kAsks = kReadOnly | kFast;

constexpr Command kHashExpireCommands[] = {
    {.name = "hexpire",
     .run = HExpire,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
     .summary = "Sets the time to live of fields, in seconds.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
    {.name = "hpexpire",
     .run = HPExpire,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key milliseconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
     .summary = "Sets the time to live of fields, in milliseconds.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
    {.name = "hexpireat",
     .run = HExpireAt,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key unix-time-seconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
     .summary = "Sets the expiration time of fields, as Unix time in seconds.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
    {.name = "hpexpireat",
     .run = HPExpireAt,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key unix-time-milliseconds [NX|XX|GT|LT] FIELDS numfields field [field ...]",
     .summary = "Sets the expiration time of fields, as Unix time in milliseconds.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
    {.name = "httl",
     .run = HTtl,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Returns the remaining time to live of fields, in seconds.",
     .cost = "O(1) for each field",
     .tips = "nondeterministic_output"},
    {.name = "hpttl",
     .run = HPTtl,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Returns the remaining time to live of fields, in milliseconds.",
     .cost = "O(1) for each field",
     .tips = "nondeterministic_output"},
    {.name = "hexpiretime",
     .run = HExpireTime,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Returns the expiration time of fields, as Unix time in seconds.",
     .cost = "O(1) for each field"},
    {.name = "hpexpiretime",
     .run = HPExpireTime,
     .arity = -5,
     .flags = kAsks,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Returns the expiration time of fields, as Unix time in milliseconds.",
     .cost = "O(1) for each field"},
    {.name = "hpersist",
     .run = HPersist,
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "7.4.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Removes the expiration time of fields.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
    {.name = "hgetdel",
     .run = HGetDel,
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "8.0.0",
     .usage = "key FIELDS numfields field [field ...]",
     .summary = "Returns the values of fields and deletes the fields.",
     .cost = "O(1) for each field",
     .key_use = "RW access delete"},
    {.name = "hgetex",
     .run = HGetEx,
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "8.0.0",
     .usage = "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT "
              "unix-time-milliseconds|PERSIST] FIELDS numfields field [field ...]",
     .summary = "Returns the values of fields, and sets or removes their expiration times.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW access update"},
    {.name = "hsetex",
     .run = HSetEx,
     .arity = -6,
     .flags = kSets,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "8.0.0",
     .usage =
         kUsage<"key [FNX|FXX] ", kSetsTime, " FIELDS numfields field value [field value ...]">,
     .summary = "Sets fields and their expiration times.",
     .cost = "O(log(N)) for each field",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> HashExpireCommands() { return kHashExpireCommands; }

}  // namespace zsetd
