#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// What listening to channels and listening to patterns of channels differ in.
struct Listening {
  std::string_view began;  // how a confirmation opens
  std::string_view ended;
  bool (Channels::*begin)(Client&, std::string_view);
  bool (Channels::*end)(Client&, std::string_view);
  std::set<std::string, std::less<>> Client::*names;
};

constexpr Listening kToChannels = {"subscribe", "unsubscribe", &Channels::Subscribe,
                                   &Channels::Unsubscribe, &Client::channels};
constexpr Listening kToPatterns = {"psubscribe", "punsubscribe", &Channels::SubscribePattern,
                                   &Channels::UnsubscribePattern, &Client::patterns};

// A confirmation comes even where replies are turned off, as messages do.
void Confirm(Call& call, std::string_view what, std::optional<std::string_view> name) {
  const auto write = [&](ReplyWriter& reply) {
    reply.Push(3);
    reply.Bulk(what);
    name ? reply.Bulk(*name) : reply.Null();
    reply.Integer(static_cast<int64_t>(call.client.SubscriptionCount()));
  };
  const bool silent = call.client.reply_mode != Client::ReplyMode::kOn;
  silent ? call.client.Push(write) : write(call.reply);
}

void Begin(Call& call, const Listening& listening) {
  for (const std::string_view name : call.args.Rest()) {
    (call.engine.channels().*listening.begin)(call.client, name);
    Confirm(call, listening.began, name);
  }
}

void End(Call& call, const Listening& listening, std::string_view name) {
  (call.engine.channels().*listening.end)(call.client, name);
  Confirm(call, listening.ended, name);
}

void EndAll(Call& call, const Listening& listening) {
  const auto names = call.client.*listening.names;
  for (const std::string& name : names) End(call, listening, name);
  if (names.empty()) Confirm(call, listening.ended, std::nullopt);
}

void End(Call& call, const Listening& listening) {
  if (call.args.AtEnd()) return EndAll(call, listening);
  for (const std::string_view name : call.args.Rest()) End(call, listening, name);
}

void Subscribe(Call& call) { Begin(call, kToChannels); }
void PSubscribe(Call& call) { Begin(call, kToPatterns); }
void Unsubscribe(Call& call) { End(call, kToChannels); }
void PUnsubscribe(Call& call) { End(call, kToPatterns); }

void Publish(Call& call) {
  const std::string_view channel = call.args.Word();
  const std::string_view message = call.args.Word();
  call.reply.Integer(static_cast<int64_t>(call.engine.channels().Publish(channel, message)));
}

void ActiveChannels(Call& call) {
  const std::string_view pattern = call.args.AtEnd() ? "*" : call.args.Word();
  if (!call.args.AtEnd()) {
    return call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
                     std::string(call.words()[1]) + "'. Try PUBSUB HELP.");
  }
  const std::vector<std::string_view> channels = call.engine.channels().Matching(pattern);
  call.reply.Array(channels.size());
  for (const std::string_view channel : channels) call.reply.Bulk(channel);
}

void NumSub(Call& call) {
  const Words channels = call.args.Rest();
  call.reply.Array(2 * channels.size());
  for (const std::string_view channel : channels) {
    call.reply.Bulk(channel);
    call.reply.Integer(static_cast<int64_t>(call.engine.channels().ListenerCount(channel)));
  }
}

void NumPat(Call& call) {
  call.reply.Integer(static_cast<int64_t>(call.engine.channels().pattern_count()));
}

constexpr uint32_t kListenFlags = kPubSub | kNoScript | kLoading | kStale | kWhileListening;
constexpr uint32_t kTellFlags = kPubSub | kLoading | kStale;

constexpr Command kCommands[] = {
    {.name = "subscribe",
     .run = Subscribe,
     .arity = -2,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "channel [channel ...]",
     .summary = "Listens to channels.",
     .cost = "O(1) for each channel"},
    {.name = "psubscribe",
     .run = PSubscribe,
     .arity = -2,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "pattern [pattern ...]",
     .summary = "Listens to the channels that match patterns.",
     .cost = "O(1) for each pattern"},
    {.name = "unsubscribe",
     .run = Unsubscribe,
     .arity = -1,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "[channel [channel ...]]",
     .summary = "Listens to channels no more, or to none.",
     .cost = "O(N) for N listeners of each channel"},
    {.name = "punsubscribe",
     .run = PUnsubscribe,
     .arity = -1,
     .flags = kListenFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "[pattern [pattern ...]]",
     .summary = "Listens to patterns no more, or to none.",
     .cost = "O(N) for N listeners of each pattern"},
    {.name = "publish",
     .run = Publish,
     .arity = 3,
     .flags = kTellFlags | kFast | kHeldBackWithWrites,
     .group = CommandGroup::kPubSub,
     .since = "2.0.0",
     .usage = "channel message",
     .summary = "Sends a message to all who listen to a channel.",
     .cost = "O(N+M) for N listeners and M patterns"},
    {.name = "pubsub",
     .arity = -2,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .summary = "Tells who listens to what.",
     .cost = "That of the subcommand"},
    {.name = "pubsub|channels",
     .run = ActiveChannels,
     .arity = -2,
     .flags = kTellFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .usage = "[pattern]",
     .summary = "Names the channels that somebody listens to.",
     .cost = "O(N) for N channels"},
    {.name = "pubsub|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kPubSub,
     .since = "6.2.0",
     .summary = "Prints this.",
     .cost = "O(1)"},
    {.name = "pubsub|numpat",
     .run = NumPat,
     .arity = 2,
     .flags = kTellFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .summary = "Tells how many different patterns are listened to.",
     .cost = "O(1)"},
    {.name = "pubsub|numsub",
     .run = NumSub,
     .arity = -2,
     .flags = kTellFlags,
     .group = CommandGroup::kPubSub,
     .since = "2.8.0",
     .usage = "[channel [channel ...]]",
     .summary = "Tells how many listen to each of the channels, patterns left out.",
     .cost = "O(N) for N channels"},
};

}  // namespace

std::span<const Command> PubSubCommands() { return kCommands; }

}  // namespace zsetd
