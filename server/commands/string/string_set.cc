#include <optional>
#include <string_view>

#include "core/keyspace/value.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/expiry_option.h"
#include "server/commands/string/families.h"
#include "server/commands/string/string_reply.h"
#include "server/engine/call.h"
#include "server/engine/command/usage_text.h"

namespace zsetd {
namespace {

bool Exists(Call& call, std::string_view key) { return call.keys.Peek(key) != nullptr; }

// The options of SET after the value.
struct SetOptions {
  bool only_new = false;       // NX
  bool only_existing = false;  // XX
  bool reply_old = false;      // GET
  bool keep_deadline = false;  // KEEPTTL
  std::optional<ExpiryOption> expiry;
};

// Returns false if the next argument is not an option, or contradicts an earlier one. An option may
// be repeated.
bool TakeSetOption(ArgReader& args, SetOptions& options) {
  if (!options.only_existing && args.Take("nx")) return options.only_new = true;
  if (!options.only_new && args.Take("xx")) return options.only_existing = true;
  if (args.Take("get")) return options.reply_old = true;
  if (!options.expiry && args.Take("keepttl")) return options.keep_deadline = true;
  return !options.keep_deadline && TakeExpiryInto(args, options.expiry);
}

SetOptions TakeSetOptions(ArgReader& args) {
  SetOptions options;
  while (args.ok() && !args.AtEnd()) {
    if (!TakeSetOption(args, options)) args.Refuse(kSyntaxError);
  }
  return options;
}

bool MaySet(Call& call, std::string_view key, const SetOptions& options) {
  if (options.only_new) return !Exists(call, key);
  return !options.only_existing || Exists(call, key);
}

// Propagates neither a relative time nor GET, because older servers refuse GET together with NX.
void PropagateSet(Call& call, std::string_view key, std::string_view value,
                  std::optional<Millis> deadline, bool keeps_deadline = false) {
  if (!call.Propagates()) return;
  if (deadline && call.keys.all().Find(key) == nullptr) {
    call.Propagate({"DEL", key});
  } else if (deadline) {
    call.Propagate({"SET", key, value, "PXAT", IntegerText(deadline->count())});
  } else if (keeps_deadline) {
    call.Propagate({"SET", key, value, "KEEPTTL"});
  } else {
    call.Propagate({"SET", key, value});
  }
}

void Set(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view value = call.args.Word();
  const SetOptions options = TakeSetOptions(call.args);
  std::optional<Millis> deadline;
  if (options.expiry) deadline = DeadlineOf(call, *options.expiry);
  std::optional<ByteString> old;
  if (options.reply_old) old = call.Find<ByteString>(key);
  if (call.Refused()) return;

  const bool may_set = MaySet(call, key, options);
  if (options.reply_old || !may_set) {
    ReplyString(call, old);
  } else {
    call.reply.Ok();
  }
  if (!may_set) return;
  if (options.keep_deadline) {
    call.keys.PutKeepingDeadline(key, ByteString(value), KeyEvent::kSet);
  } else {
    call.keys.Put(key, ByteString(value), KeyEvent::kSet, deadline);
  }
  if (deadline || options.reply_old) {
    PropagateSet(call, key, value, deadline, options.keep_deadline);
  }
}

void SetNx(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view value = call.args.Word();
  if (Exists(call, key)) return call.reply.Integer(0);
  call.keys.Put(key, ByteString(value), KeyEvent::kSet);
  call.reply.Integer(1);
}

void SetExpiring(Call& call, ExpiryOption::Form form) {
  const std::string_view key = call.args.Word();
  const ExpiryOption expiry = {.form = form, .amount = call.args.Word()};
  const std::string_view value = call.args.Word();
  const Millis deadline = DeadlineOf(call, expiry);
  if (call.Refused()) return;
  call.keys.Put(key, ByteString(value), KeyEvent::kSet, deadline);
  PropagateSet(call, key, value, deadline);
  call.reply.Ok();
}

void SetEx(Call& call) { SetExpiring(call, ExpiryOption::Form::kEx); }
void PSetEx(Call& call) { SetExpiring(call, ExpiryOption::Form::kPx); }

// Takes the remaining arguments as keys and values.
Args TakePairs(Call& call) {
  if (call.args.left() % 2 != 0) call.args.Refuse(WrongArity(call.command.name));
  return call.args.Rest();
}

void PutPairs(Call& call, Args pairs) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    call.keys.Put(pairs[i], ByteString(pairs[i + 1]), KeyEvent::kSet);
  }
}

void MSet(Call& call) {
  const Args pairs = TakePairs(call);
  if (call.Refused()) return;
  PutPairs(call, pairs);
  call.reply.Ok();
}

void MSetNx(Call& call) {
  const Args pairs = TakePairs(call);
  if (call.Refused()) return;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (Exists(call, pairs[i])) return call.reply.Integer(0);
  }
  PutPairs(call, pairs);
  call.reply.Integer(1);
}

constexpr std::string_view kReadingOptions[] = {"get"};

constexpr Command kStringSetCommands[] = {
    {.name = "set",
     .run = Set,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = kUsage<"key value [NX|XX] [GET] ", kSetsTime>,
     .summary = "Sets the string value of a key, overwriting any old value.",
     .cost = "O(1)",
     .key_use = "RW access update variable_flags",
     .variable_use = {"RW access update", "OW update", kReadingOptions, 3}},
    {.name = "setnx",
     .run = SetNx,
     .arity = 3,
     .flags = kWrite | kDenyOom | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "1.0.0",
     .usage = "key value",
     .summary = "Sets a string if the key does not exist.",
     .cost = "O(1)",
     .key_use = "OW insert"},
    {.name = "setex",
     .run = SetEx,
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "2.0.0",
     .usage = "key seconds value",
     .summary = "Sets a string with a time to live in seconds.",
     .cost = "O(1)",
     .key_use = "OW update"},
    {.name = "psetex",
     .run = PSetEx,
     .arity = 4,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kString,
     .since = "2.6.0",
     .usage = "key milliseconds value",
     .summary = "Sets a string with a time to live in milliseconds.",
     .cost = "O(1)",
     .key_use = "OW update"},
    {.name = "mset",
     .run = MSet,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kEveryOtherKey,
     .group = CommandGroup::kString,
     .since = "1.0.1",
     .usage = "key value [key value ...]",
     .summary = "Sets several strings atomically.",
     .cost = "O(N) for N keys",
     .key_use = "OW update",
     .tips = "request_policy:multi_shard response_policy:all_succeeded"},
    {.name = "msetnx",
     .run = MSetNx,
     .arity = -3,
     .flags = kWrite | kDenyOom,
     .keys = kEveryOtherKey,
     .group = CommandGroup::kString,
     .since = "1.0.1",
     .usage = "key value [key value ...]",
     .summary = "Sets several strings atomically if none of the keys exists.",
     .cost = "O(N) for N keys",
     .key_use = "OW insert",
     .tips = "request_policy:multi_shard response_policy:agg_min"},
};

}  // namespace

std::span<const Command> StringSetCommands() { return kStringSetCommands; }

}  // namespace zsetd
