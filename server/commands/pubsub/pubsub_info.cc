// PUBSUB: reports subscriptions.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/common/help.h"
#include "server/commands/pubsub/families.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

void ReplyNames(AdminCall& call, ChannelKind kind) {
  const std::string_view pattern = call.args.AtEnd() ? "*" : call.args.Word();
  if (!call.args.AtEnd()) {
    return call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
                     std::string(call.argv()[1]) + "'. Try PUBSUB HELP.");
  }
  const std::vector<std::string_view> names =
      call.engine.notifier().channels().Matching(kind, pattern);
  call.reply.Array(names.size());
  for (const std::string_view name : names) call.reply.Bulk(name);
}

void ReplyListenerCounts(AdminCall& call, ChannelKind kind) {
  const Args names = call.args.Rest();
  call.reply.Array(2 * names.size());
  for (const std::string_view name : names) {
    call.reply.Bulk(name);
    call.reply.Integer(
        static_cast<int64_t>(call.engine.notifier().channels().ListenerCount(kind, name)));
  }
}

void ChannelNames(AdminCall& call) { ReplyNames(call, ChannelKind::kChannel); }
void ShardChannelNames(AdminCall& call) { ReplyNames(call, ChannelKind::kShardChannel); }
void NumSub(AdminCall& call) { ReplyListenerCounts(call, ChannelKind::kChannel); }
void ShardNumSub(AdminCall& call) { ReplyListenerCounts(call, ChannelKind::kShardChannel); }

void NumPat(AdminCall& call) {
  const size_t patterns = call.engine.notifier().channels().count(ChannelKind::kPattern);
  call.reply.Integer(static_cast<int64_t>(patterns));
}

constexpr uint32_t kReportFlags = kPubSub | kLoading | kStale;

constexpr Command kPubSubInfoCommands[] = {
    {.name = "pubsub",
     .arity = -2,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .summary = "Inspects subscriptions.",
     .cost = "Depends on the subcommand"},
    {.name = "pubsub|channels",
     .run = ChannelNames,
     .arity = -2,
     .flags = kReportFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .usage = "[pattern]",
     .summary = "Lists channels with subscribers.",
     .cost = "O(N) for N channels"},
    {.name = "pubsub|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kPubSub,
     .since = "6.2.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "pubsub|numpat",
     .run = NumPat,
     .arity = 2,
     .flags = kReportFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .summary = "Returns the number of distinct subscribed patterns.",
     .cost = "O(1)"},
    {.name = "pubsub|numsub",
     .run = NumSub,
     .arity = -2,
     .flags = kReportFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .usage = "[channel [channel ...]]",
     .summary = "Returns the number of subscribers of channels, without pattern subscribers.",
     .cost = "O(N) for N channels"},
    {.name = "pubsub|shardchannels",
     .run = ShardChannelNames,
     .arity = -2,
     .flags = kReportFlags,
     .group = CommandGroup::kPubSub,
     .since = "7.0.0",
     .usage = "[pattern]",
     .summary = "Lists shard channels with subscribers.",
     .cost = "O(N) for N channels"},
    {.name = "pubsub|shardnumsub",
     .run = ShardNumSub,
     .arity = -2,
     .flags = kReportFlags,
     .group = CommandGroup::kPubSub,
     .since = "7.0.0",
     .usage = "[shardchannel [shardchannel ...]]",
     .summary = "Returns the number of subscribers of shard channels.",
     .cost = "O(N) for N channels"},
};

}  // namespace

std::span<const Command> PubSubInfoCommands() { return kPubSubInfoCommands; }

}  // namespace zsetd
