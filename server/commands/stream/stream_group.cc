#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "server/commands/common/help.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

constexpr std::string_view kNeedsKey =
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use "
    "the MKSTREAM option to create an empty stream automatically.";

// The error of a subcommand with wrong options.
std::string SubcommandError(const Call& call) {
  return "ERR unknown subcommand or wrong number of arguments for " + Quoted(call.argv()[1], 128) +
         ". Try XGROUP HELP.";
}

std::string NoGroupAt(std::string_view key, std::string_view group) {
  return "NOGROUP No such consumer group " + Quoted(group) + " for key name " + Quoted(key);
}

// The arguments of CREATE and SETID.
struct PositionRequest {
  std::string_view key;
  std::string_view group;
  std::string_view id;  // parsed after the key is found, as in Redis
  bool makes_stream = false;
  int64_t entries_read = ConsumerGroup::kUnknownCount;
};

PositionRequest TakePositionRequest(Call& call, bool creates) {
  ArgReader& args = call.args;
  const size_t most_words = creates ? 8 : 7;
  PositionRequest request;
  request.key = args.Word();
  request.group = args.Word();
  request.id = args.Word();
  while (args.ok() && !args.AtEnd()) {
    if (creates && args.Take("mkstream")) {
      request.makes_stream = true;
    } else if (args.left() >= 2 && args.Take("entriesread")) {
      request.entries_read = args.Integer();
      // A count of redis-server may have overflowed, and its replicas receive it.
      if (request.entries_read < ConsumerGroup::kUnknownCount && !call.keys.applies_effects()) {
        args.Refuse("ERR value for ENTRIESREAD must be positive or -1");
      }
    } else {
      args.Refuse(SubcommandError(call));
    }
  }
  if (call.argv().size() > most_words) args.Refuse(SubcommandError(call));
  return request;
}

// Opens a stream that must exist.
Edit<Stream> OpenStream(Call& call, std::string_view key, KeyEvent event) {
  Edit<Stream> stream = call.Open<Stream>(key, event);
  if (!stream) call.args.Refuse(kNeedsKey);
  return stream;
}

// Opens a stream and finds its group, which must exist.
Edit<Stream> OpenGroup(Call& call, std::string_view key, std::string_view name, KeyEvent event,
                       ConsumerGroup*& group) {
  Edit<Stream> stream = OpenStream(call, key, event);
  if (!stream) return stream;
  group = stream->ChangeGroup(name);
  if (group == nullptr) call.args.Refuse(NoGroupAt(key, name));
  return stream;
}

void Create(Call& call) {
  const PositionRequest request = TakePositionRequest(call, /*creates=*/true);
  const Edit<Stream> stream = request.makes_stream
                                  ? call.OpenOrMake<Stream>(request.key, KeyEvent::kXGroupCreate)
                                  : OpenStream(call, request.key, KeyEvent::kXGroupCreate);
  if (call.Refused()) return;
  const std::optional<StreamId> id =
      request.id == "$" ? stream->last_id() : ParseStreamId(request.id);
  if (!id) return call.Fail(kInvalidStreamId);
  if (!stream->AddGroup(request.group, ConsumerGroup(*id, request.entries_read))) {
    return call.Fail("BUSYGROUP Consumer Group name already exists");
  }
  call.reply.Ok();
}

void SetId(Call& call) {
  const PositionRequest request = TakePositionRequest(call, /*creates=*/false);
  ConsumerGroup* group = nullptr;
  const Edit<Stream> stream =
      OpenGroup(call, request.key, request.group, KeyEvent::kXGroupSetId, group);
  if (call.Refused()) return;
  const std::optional<StreamId> id =
      request.id == "$" ? stream->last_id() : ParseStreamIdOrEnd(request.id, 0);
  if (!id) return call.Fail(kInvalidStreamId);
  group->SetPosition(*id, request.entries_read);
  stream->CountChanges(1);
  call.reply.Ok();
}

void Destroy(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const Edit<Stream> stream = OpenStream(call, key, KeyEvent::kXGroupDestroy);
  if (call.Refused()) return;
  call.reply.Integer(stream->RemoveGroup(name));
}

void CreateConsumer(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const std::string_view consumer = call.args.Word();
  ConsumerGroup* group = nullptr;
  const Edit<Stream> stream = OpenGroup(call, key, name, KeyEvent::kXGroupCreateConsumer, group);
  if (call.Refused()) return;
  const bool is_new = group->AddConsumer(consumer, call.now());
  stream->CountChanges(is_new);
  call.reply.Integer(is_new);
}

void DeleteConsumer(Call& call) {
  const std::string_view key = call.args.Word();
  const std::string_view name = call.args.Word();
  const std::string_view consumer = call.args.Word();
  ConsumerGroup* group = nullptr;
  const Edit<Stream> stream = OpenGroup(call, key, name, KeyEvent::kXGroupDelConsumer, group);
  if (call.Refused()) return;
  stream->CountChanges(group->FindConsumer(consumer) != nullptr);
  call.reply.Integer(static_cast<int64_t>(group->RemoveConsumer(consumer)));
}

constexpr KeyPlaces kGroupKey = {2, 2, 1};

constexpr Command kStreamGroupCommands[] = {
    {.name = "xgroup",
     .arity = -2,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .summary = "Manages the consumer groups of a stream.",
     .cost = "Depends on the subcommand"},
    {.name = "xgroup|create",
     .run = Create,
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = kGroupKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group <id|$> [MKSTREAM] [ENTRIESREAD entries-read]",
     .summary = "Creates a consumer group.",
     .cost = "O(1)",
     .key_use = "RW insert"},
    {.name = "xgroup|createconsumer",
     .run = CreateConsumer,
     .arity = 5,
     .flags = kWrite | kDenyOom,
     .keys = kGroupKey,
     .group = CommandGroup::kStream,
     .since = "6.2.0",
     .usage = "key group consumer",
     .summary = "Creates a consumer in a consumer group.",
     .cost = "O(log(N)) for N consumers",
     .key_use = "RW insert"},
    {.name = "xgroup|delconsumer",
     .run = DeleteConsumer,
     .arity = 5,
     .flags = kWrite,
     .keys = kGroupKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group consumer",
     .summary = "Deletes a consumer with its pending entries, and returns their number.",
     .cost = "O(N) for N pending entries of the group",
     .key_use = "RW delete"},
    {.name = "xgroup|destroy",
     .run = Destroy,
     .arity = 4,
     .flags = kWrite,
     .keys = kGroupKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group",
     .summary = "Deletes a consumer group.",
     .cost = "O(N) for N pending entries of the group",
     .key_use = "RW delete"},
    {.name = "xgroup|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "xgroup|setid",
     .run = SetId,
     .arity = -5,
     .flags = kWrite,
     .keys = kGroupKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group <id|$> [ENTRIESREAD entries-read]",
     .summary = "Sets the last delivered ID of a consumer group.",
     .cost = "O(1)",
     .key_use = "RW update"},
};

}  // namespace

std::span<const Command> StreamGroupCommands() { return kStreamGroupCommands; }

}  // namespace zsetd
