#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/commands/pubsub/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/services.h"

namespace zsetd {
namespace {

// The first words of confirmations.
struct Confirmation {
  std::string_view began;
  std::string_view ended;
};

Confirmation ConfirmationOf(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kChannel:
      return {"subscribe", "unsubscribe"};
    case ChannelKind::kPattern:
      return {"psubscribe", "punsubscribe"};
    case ChannelKind::kShardChannel:
      return {"ssubscribe", "sunsubscribe"};
  }
  return {};
}

// The client's number of subscriptions. Shard channels are counted separately.
size_t Count(const Client& client, ChannelKind kind) {
  if (kind == ChannelKind::kShardChannel) return client.listens_to(kind).size();
  return client.listens_to(ChannelKind::kChannel).size() +
         client.listens_to(ChannelKind::kPattern).size();
}

// Like messages, a confirmation is sent even if replies are turned off.
void Confirm(AdminCall& call, std::string_view what, ChannelKind kind,
             std::optional<std::string_view> name) {
  const auto write = [&](ReplyWriter& reply) {
    reply.Push(3);
    reply.Bulk(what);
    reply.BulkOrNull(name);
    reply.Integer(static_cast<int64_t>(Count(call.client(), kind)));
  };
  const bool silent = call.client().output.reply_mode != ClientOutput::ReplyMode::kOn;
  if (silent) {
    call.client().mailbox.Push(write);
  } else {
    write(call.reply);
  }
}

void Begin(AdminCall& call, ChannelKind kind) {
  for (const std::string_view name : call.args.Rest()) {
    call.engine.notifier().Subscribe(call.client(), kind, name);
    Confirm(call, ConfirmationOf(kind).began, kind, name);
  }
}

void End(AdminCall& call, ChannelKind kind, std::string_view name) {
  call.engine.notifier().channels().Unsubscribe(call.client(), kind, name);
  Confirm(call, ConfirmationOf(kind).ended, kind, name);
}

void EndAll(AdminCall& call, ChannelKind kind) {
  const Client::Names names = call.client().listens_to(kind);
  for (const std::string& name : names) End(call, kind, name);
  if (names.empty()) Confirm(call, ConfirmationOf(kind).ended, kind, std::nullopt);
}

void End(AdminCall& call, ChannelKind kind) {
  if (call.args.AtEnd()) return EndAll(call, kind);
  for (const std::string_view name : call.args.Rest()) End(call, kind, name);
}

void Subscribe(AdminCall& call) { Begin(call, ChannelKind::kChannel); }
void PSubscribe(AdminCall& call) { Begin(call, ChannelKind::kPattern); }

// As in Redis, a transaction refuses SSUBSCRIBE, but not SUBSCRIBE and PSUBSCRIBE.
void SSubscribe(AdminCall& call) {
  if (call.caller.transaction.open) {
    return call.Fail("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
  }
  Begin(call, ChannelKind::kShardChannel);
}

void Unsubscribe(AdminCall& call) { End(call, ChannelKind::kChannel); }
void PUnsubscribe(AdminCall& call) { End(call, ChannelKind::kPattern); }
void SUnsubscribe(AdminCall& call) { End(call, ChannelKind::kShardChannel); }

// In a cluster a message goes to all nodes, replicas included, over the bus.
void SendOn(AdminCall& call, std::string_view channel, std::string_view message,
            bool is_shard_channel) {
  if (!call.engine.settings().cluster_enabled) return call.PropagateMessage();
  call.engine.services().cluster->Publish(channel, message, is_shard_channel);
}

void Publish(AdminCall& call) {
  const std::string_view channel = call.args.Word();
  const std::string_view message = call.args.Word();
  call.reply.Integer(
      static_cast<int64_t>(call.engine.notifier().channels().Publish(channel, message)));
  SendOn(call, channel, message, /*is_shard_channel=*/false);
}

void SPublish(AdminCall& call) {
  const std::string_view channel = call.args.Word();
  const std::string_view message = call.args.Word();
  call.reply.Integer(
      static_cast<int64_t>(call.engine.notifier().channels().PublishToShard(channel, message)));
  SendOn(call, channel, message, /*is_shard_channel=*/true);
}

constexpr uint32_t kListenFlags = kPubSub | kNoScript | kLoading | kStale | kAllowedWhileSubscribed;
constexpr uint32_t kTellFlags = kPubSub | kLoading | kStale;

constexpr Command kPubSubCommands[] = {
    {.name = "subscribe",
     .run = Subscribe,
     .arity = -2,
     .flags = kListenFlags | kKeepsMemory,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "channel [channel ...]",
     .summary = "Subscribes to channels.",
     .cost = "O(1) for each channel",
     .channels = ChannelPlaces::kAll},
    {.name = "psubscribe",
     .run = PSubscribe,
     .arity = -2,
     .flags = kListenFlags | kKeepsMemory,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "pattern [pattern ...]",
     .summary = "Subscribes to channel patterns.",
     .cost = "O(1) for each pattern",
     .channels = ChannelPlaces::kAllPatterns},
    {.name = "ssubscribe",
     .run = SSubscribe,
     .arity = -2,
     .flags = kListenFlags | kKeepsMemory,
     .keys = kShardChannels,
     .group = CommandGroup::kPubSub,
     .since = "7.0.0",
     .usage = "shardchannel [shardchannel ...]",
     .summary = "Subscribes to shard channels.",
     .cost = "O(1) for each channel",
     .channels = ChannelPlaces::kAll},
    {.name = "unsubscribe",
     .run = Unsubscribe,
     .arity = -1,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "[channel [channel ...]]",
     .summary = "Unsubscribes from channels, or from all.",
     .cost = "O(N) for N subscribers of each channel"},
    {.name = "punsubscribe",
     .run = PUnsubscribe,
     .arity = -1,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "[pattern [pattern ...]]",
     .summary = "Unsubscribes from patterns, or from all.",
     .cost = "O(N) for N subscribers of each pattern"},
    {.name = "sunsubscribe",
     .run = SUnsubscribe,
     .arity = -1,
     .flags = kListenFlags,
     .keys = kShardChannels,
     .group = CommandGroup::kPubSub,
     .since = "7.0.0",
     .usage = "[shardchannel [shardchannel ...]]",
     .summary = "Unsubscribes from shard channels, or from all.",
     .cost = "O(N) for N subscribers of each channel"},
    {.name = "publish",
     .run = Publish,
     .arity = 3,
     .flags = kTellFlags | kFast | kMayReplicate,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "channel message",
     .summary = "Publishes a message to a channel.",
     .cost = "O(N+M) for N subscribers and M patterns",
     .channels = ChannelPlaces::kFirst},
    {.name = "spublish",
     .run = SPublish,
     .arity = 3,
     .flags = kTellFlags | kFast | kMayReplicate,
     .keys = kOneShardChannel,
     .group = CommandGroup::kPubSub,
     .since = "7.0.0",
     .usage = "shardchannel message",
     .summary = "Publishes a message to a shard channel.",
     .cost = "O(N) for N subscribers",
     .channels = ChannelPlaces::kFirst},
};

}  // namespace

std::span<const Command> PubSubCommands() { return kPubSubCommands; }

}  // namespace zsetd
