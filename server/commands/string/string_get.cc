#include <optional>
#include <string_view>

#include "core/keyspace/value.h"
#include "server/commands/common/expiry_option.h"
#include "server/commands/string/families.h"
#include "server/commands/string/string_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void Get(Call& call) {
  const std::optional<ByteString> value = call.Find<ByteString>(call.args.Word());
  if (call.Refused()) return;
  ReplyString(call, value);
}

// A key of another type counts as missing.
void MGet(Call& call) {
  const Args keys = call.args.Rest();
  call.reply.Array(keys.size());
  call.keys.all().Prefetch(keys);
  for (const std::string_view key : keys) {
    const Entry* entry = call.keys.Find(key);
    ReplyString(call, entry == nullptr ? std::nullopt : entry->GetIf<ByteString>());
  }
}

void StrLen(Call& call) {
  const std::optional<ByteString> value = call.Find<ByteString>(call.args.Word());
  if (call.Refused()) return;
  call.reply.Integer(value ? static_cast<int64_t>(value->view().size()) : 0);
}

void GetSet(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view value = call.args.Word();
  const std::optional<ByteString> old = call.Find<ByteString>(key);
  if (call.Refused()) return;
  ReplyString(call, old);
  call.keys.Put(key, ByteString(value), KeyEvent::kSet);
  call.Propagate({"SET", key, value});
}

void GetDel(Call& call) {
  const std::string_view key = call.args.Word();
  const std::optional<ByteString> value = call.Find<ByteString>(key);
  if (call.Refused()) return;
  ReplyString(call, value);
  if (call.keys.Erase(key)) call.Propagate({"DEL", key});
}

struct GetExOptions {
  std::optional<ExpiryOption> expiry;
  bool persist = false;
};

GetExOptions TakeGetExOptions(ArgReader& args) {
  GetExOptions options;
  while (args.ok() && !args.AtEnd()) {
    if (!options.expiry && args.Take("persist")) {
      options.persist = true;
    } else if (options.persist || !TakeExpiryInto(args, options.expiry)) {
      args.Refuse(kSyntaxError);
    }
  }
  return options;
}

// The amount of time is parsed last. As in Redis, it is not checked if the key is missing.
void GetEx(Call& call) {
  const std::string_view key = call.args.Word();
  const GetExOptions options = TakeGetExOptions(call.args);
  const std::optional<ByteString> value = call.Find<ByteString>(key);
  std::optional<Millis> deadline;
  if (value && options.expiry) deadline = DeadlineOf(call, *options.expiry);
  if (call.Refused()) return;
  ReplyString(call, value);
  if (deadline) {
    call.keys.ExpireAt(*call.keys.Open(key), *deadline);
    PropagateDeadline(call, key, *deadline);
  }
  if (value && options.persist && call.keys.Persist(*call.keys.Open(key))) {
    call.Propagate({"PERSIST", key});
  }
}

constexpr Command kStringGetCommands[] = {
    {.name = "get",
     .run = Get,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key",
     .summary = "Returns the string value of a key.",
     .cost = "O(1)"},
    {.name = "mget",
     .run = MGet,
     .arity = -2,
     .flags = kReadOnly | kFast,
     .keys = kAllKeys,
     .concurrent = true,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key [key ...]",
     .summary = "Returns the string values of several keys.",
     .cost = "O(N) for N keys",
     .tips = "request_policy:multi_shard"},
    {.name = "strlen",
     .run = StrLen,
     .arity = 2,
     .flags = kReadOnly | kFast,
     .keys = kOneKey,
     .concurrent = true,
     .group = CommandGroup::kString,
     .since = "2.2.0",
     .usage = "key",
     .summary = "Returns the length of a string.",
     .cost = "O(1)",
     .key_use = "RO"},
    {.name = "getset",
     .run = GetSet,
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key value",
     .summary = "Sets a string and returns the old value.",
     .cost = "O(1)"},
    {.name = "getdel",
     .run = GetDel,
     .arity = 2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "6.2.0",
     .usage = "key",
     .summary = "Returns the string value of a key and deletes the key.",
     .cost = "O(1)",
     .key_use = "RW access delete"},
    {.name = "getex",
     .run = GetEx,
     .arity = -2,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "6.2.0",
     .usage = "key [EX seconds|PX milliseconds|EXAT unix-time-seconds|"
              "PXAT unix-time-milliseconds|PERSIST]",
     .summary = "Returns the string value of a key and sets or removes its expiration.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> StringGetCommands() { return kStringGetCommands; }

}  // namespace zsetd
