// XREADGROUP: new entries for a consumer of a group, or the consumer's pending entries.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/stream/stream.h"
#include "server/commands/stream/claim_effects.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/read_request.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"
#include "server/engine/client/stream_wait.h"

namespace zsetd {
namespace {

// A stream of the request, which has the group.
struct WantedByGroup {
  std::string_view key;
  std::optional<StreamId> after;   // of pending entries; nullopt: new entries
  std::vector<PendingEntry> idle;  // of any consumer, to be claimed before new entries are read
  bool has_entries = false;        // to reply now; pending entries are always replied

  bool HasSome() const { return has_entries || !idle.empty(); }
};

// How often the request names each key for new entries.
using TimesNamed = absl::flat_hash_map<std::string_view, uint64_t>;

// Refuses the request if the key has no such group. The error for a client that has waited
// names the deleted object.
const ConsumerGroup* FindGroup(Call& call, const ReadRequest& request, std::string_view key,
                               const Stream* stream) {
  const ConsumerGroup* const group = stream == nullptr ? nullptr : stream->FindGroup(request.group);
  if (group != nullptr) return group;
  if (!call.RunsAgain()) {
    call.args.Refuse(NoGroup(key, request.group, " in XREADGROUP with GROUP option"));
  } else {
    call.args.Refuse("NOGROUP the consumer group this client was blocked on no longer exists");
  }
  return nullptr;
}

const Stream* StreamWithGroup(Call& call, std::string_view key) {
  const Entry* const entry = call.RunsAgain() ? call.keys.Peek(key) : nullptr;
  if (call.RunsAgain() && (entry == nullptr || !entry->Holds<Stream>())) {
    call.args.Refuse("UNBLOCKED the stream key no longer exists");
  }
  return call.Find<Stream>(key);
}

// Nullopt for ">", and for the greatest ID.
std::optional<StreamId> AfterOfGroup(Call& call, std::string_view id) {
  if (id == "$") {
    call.args.Refuse(
        "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of "
        "this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID "
        "would just return an empty result set.");
  }
  if (id == ">") return std::nullopt;
  const std::optional<StreamId> after = ParseStreamId(id);
  if (!after) call.args.Refuse(kInvalidStreamId);
  return after == kLastStreamId ? std::nullopt : after;
}

// Whether new entries are left if the request delivered `most` entries `times` times before.
bool HasNewEntries(const Stream& stream, const ConsumerGroup& group, uint64_t times,
                   uint64_t most) {
  if (stream.size() == 0 || *stream.LastEntryId() <= group.last_id()) return false;
  if (times == 0) return true;
  if (most >= UINT64_MAX / times) return false;
  const uint64_t delivered = times * most;
  return stream.CountInRange(*group.last_id().Next(), kLastStreamId, delivered + 1) > delivered;
}

// The entries that CLAIM moves to the consumer. Entries that the stream does not have stay pending.
std::vector<PendingEntry> FindIdle(const Call& call, const ReadRequest& request,
                                   const Stream& stream, const ConsumerGroup& group) {
  return group.pending().Idle(
      IdleSince(call.now(), *request.min_idle), MostEntries(call, request),
      [&](StreamId id) { return stream.Contains(id); }, FirstClaimable(stream));
}

// After a wait only the stream that ended it is considered.
std::vector<WantedByGroup> StreamsWithGroup(Call& call, const ReadRequest& request) {
  std::vector<WantedByGroup> streams;
  TimesNamed times_named;
  for (size_t i = 0; i < request.keys.size() && call.args.ok(); ++i) {
    const std::string_view key = request.keys[i];
    if (!call.MayServe(key)) continue;
    const Stream* const stream = StreamWithGroup(call, key);
    if (!call.args.ok()) break;
    const ConsumerGroup* const group = FindGroup(call, request, key, stream);
    if (group == nullptr) break;
    WantedByGroup wanted = {.key = key, .after = AfterOfGroup(call, request.ids[i])};
    const bool may_be_named_again = request.keys.size() > 1 && !wanted.after;
    const uint64_t times = may_be_named_again ? times_named[key]++ : 0;
    if (request.min_idle && !wanted.after && times == 0) {
      wanted.idle = FindIdle(call, request, *stream, *group);
    }
    wanted.has_entries =
        wanted.after || HasNewEntries(*stream, *group, times, MostEntries(call, request));
    streams.push_back(std::move(wanted));
  }
  return streams;
}

// Replies the consumer's pending entries, and delivers them again. A deleted one has no fields.
void ReplyPending(Call& call, const ReadRequest& request, const Edit<Stream>& stream,
                  ConsumerGroup& group, StreamId after) {
  const uint64_t most = MostEntries(call, request);
  const Consumer& consumer = *group.FindConsumer(request.consumer);
  std::vector<PendingEntry> entries;
  for (PendingEntries::Cursor at(group.pending(), *after.Next(), consumer.number,
                                 std::min<uint64_t>(most, consumer.pending));
       at.valid(); at.Next()) {
    entries.push_back(at.entry());
  }
  call.reply.Array(entries.size());
  for (const PendingEntry& entry : entries) {
    if (stream->Contains(entry.id)) {
      ReplyEntryAt(call.reply, *stream, entry.id);
      group.SetPending(entry.id, request.consumer, call.now(),
                       entry.deliveries + (entry.deliveries < INT64_MAX));
    } else {
      call.reply.Array(2);
      ReplyStreamId(call.reply, entry.id);
      call.reply.NullArray();
    }
  }
}

// Moves the group's position to an entry that follows it, at `place`.
void Advance(const Stream& stream, ConsumerGroup& group, StreamId id, const StreamPlace& place) {
  int64_t entries_read = group.entries_read();
  if (entries_read != ConsumerGroup::kUnknownCount && !stream.MayLackEntriesAbove(id)) {
    entries_read += entries_read < INT64_MAX;
  } else if (stream.state().entries_added > 0) {
    const std::optional<uint64_t> count = stream.CountUpTo(id);
    entries_read = count ? static_cast<int64_t>(*count) : ConsumerGroup::kUnknownCount;
  }
  group.SetPosition(id, entries_read, place);
}

// Replies an entry of a request with CLAIM, in which each entry has two more elements.
void ReplyEntryWithHistory(ReplyWriter& reply, const StreamEntry& entry, int64_t idle,
                           uint64_t deliveries) {
  reply.Array(4);
  ReplyEntryParts(reply, entry);
  reply.Integer(idle);
  reply.Integer(static_cast<int64_t>(deliveries));
}

// Replies the idle entries, and delivers them to the consumer. As in Redis, the reply has their
// state before.
void ClaimForReader(Call& call, const Stream& stream, ConsumerGroup& group, Consumer& consumer,
                    std::vector<PendingEntry>& idle) {
  for (PendingEntry& entry : idle) {
    const Stream::Cursor at(stream, entry.id, Stream::Cursor::kForward);
    const int64_t idle_time =
        entry.is_released() ? -1 : std::max(call.now() - entry.delivered, Millis(0)).count();
    ReplyEntryWithHistory(call.reply, at.entry(), idle_time, entry.deliveries);
    if (entry.deliveries < INT64_MAX) ++entry.deliveries;
    group.SetPending(entry.id, consumer, call.now(), entry.deliveries);
  }
}

// The new entries that a request delivers.
struct NewEntries {
  size_t count = 0;
  std::vector<StreamId> ids;  // if they are propagated
};

// Replies the idle and the new entries, and delivers them. Returns the new ones.
NewEntries ReplyNew(Call& call, const ReadRequest& request, const Stream& stream,
                    ConsumerGroup& group, Consumer& consumer, std::vector<PendingEntry>& idle) {
  Stream::Cursor at(stream, group.last_id(), group.place());
  NewEntries entries = {.count = at.CountLeft(MostEntries(call, request) - idle.size()), .ids = {}};
  call.reply.Array(idle.size() + entries.count);
  ClaimForReader(call, stream, group, consumer, idle);
  const bool keeps_ids = call.Propagates() && !request.acknowledges;
  for (size_t left = entries.count; left > 0; --left, at.Next()) {
    if (request.min_idle) {
      ReplyEntryWithHistory(call.reply, at.entry(), 0, 0);
    } else {
      ReplyEntry(call.reply, at.entry());
    }
    Advance(stream, group, at.id(), at.place());
    if (!request.acknowledges) group.SetPending(at.id(), consumer, call.now(), 1);
    if (keeps_ids) entries.ids.push_back(at.id());
  }
  return entries;
}

void PropagateRead(Call& call, const ReadRequest& request, const WantedByGroup& wanted,
                   const ConsumerGroup& group, const NewEntries& entries, bool is_new_consumer) {
  call.MarkPropagated();
  if (!call.Propagates()) return;
  ClaimEffects claims(call, wanted.key, request.group, group, request.consumer);
  for (const PendingEntry& entry : wanted.idle) claims.Add(entry.id, call.now(), entry.deliveries);
  for (const StreamId id : entries.ids) claims.Add(id, call.now(), 1);
  claims.Flush();
  if (is_new_consumer && !claims.any()) {
    PropagateNewConsumer(call, wanted.key, request.group, request.consumer);
  }
  if (entries.count > 0) PropagateGroupPosition(call, wanted.key, request.group, group);
}

// Creates the consumer if it does not exist, and sets the time of its last request. Redis 7.2 and
// later do this even if there is nothing to read, so XINFO distinguishes a waiting consumer from
// one that does not run.
void NoteConsumer(Call& call, const ReadRequest& request, std::string_view key) {
  Edit<Stream> stream = call.Open<Stream>(key, KeyEvent::kNone);
  const bool is_new = stream->ChangeGroup(request.group)->Seen(request.consumer, call.now()).second;
  call.MarkPropagated();
  if (!is_new) return;
  stream.ReportAs(KeyEvent::kXGroupCreateConsumer);
  stream->CountChanges(1);
  PropagateNewConsumer(call, key, request.group, request.consumer);
}

void Serve(Call& call, const ReadRequest& request, WantedByGroup& wanted) {
  Edit<Stream> stream = call.Open<Stream>(wanted.key, KeyEvent::kNone);
  ConsumerGroup& group = *stream->ChangeGroup(request.group);
  const auto [consumer, is_new] = group.Seen(request.consumer, call.now());
  if (is_new) stream.ReportAs(KeyEvent::kXGroupCreateConsumer);
  ReplyStreamKey(call.reply, wanted.key);
  NewEntries entries;
  if (wanted.after) {
    ReplyPending(call, request, stream, group, *wanted.after);
  } else {
    entries = ReplyNew(call, request, *stream, group, consumer, wanted.idle);
    const bool is_active = entries.count > 0 && !request.acknowledges;
    if (is_active || !wanted.idle.empty()) consumer.active = call.now();
  }
  stream->CountChanges(is_new + wanted.idle.size() + (entries.count > 0));
  PropagateRead(call, request, wanted, group, entries, is_new);
}

bool WaitInGroup(Call& call, const ReadRequest& request) {
  std::vector<StreamWait::Position> positions;
  for (const std::string_view key : request.keys) {
    positions.push_back({std::string(key), std::nullopt});
  }
  auto wait = std::make_unique<StreamWait>(std::move(positions), std::string(request.group),
                                           request.min_idle);
  return call.WaitForEntries(request.keys, call.argv(), wait, *request.block);
}

void XReadGroup(Call& call) {
  const ReadRequest request = TakeReadRequest(call, /*in_group=*/true);
  std::vector<WantedByGroup> streams = StreamsWithGroup(call, request);
  if (call.Refused()) return;
  const auto served = static_cast<size_t>(std::ranges::count_if(streams, &WantedByGroup::HasSome));
  for (const WantedByGroup& wanted : streams) {
    if (!wanted.HasSome()) NoteConsumer(call, request, wanted.key);
  }
  if (served == 0) {
    if (!request.block || !WaitInGroup(call, request)) call.reply.NullArray();
    return;
  }
  ReplyStreams(call.reply, served);
  for (WantedByGroup& wanted : streams) {
    if (wanted.HasSome()) Serve(call, request, wanted);
  }
}

constexpr Command kStreamReadGroupCommands[] = {
    {.name = "xreadgroup",
     .run = XReadGroup,
     .arity = -7,
     .flags = kWrite | kBlocking | kMovableKeys,
     .keys = kReadKeys,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage =
         "GROUP group consumer [COUNT count] [BLOCK milliseconds] [CLAIM min-idle-time] [NOACK] "
         "STREAMS key [key ...] id [id ...]",
     .summary = "Returns new entries of streams for a consumer of a group, or its pending entries; "
                "can claim idle entries, and block until there are some.",
     .cost = "O(N*log(M)+K) for N streams of M entries and K entries returned",
     .key_use = "RO access"},
};

}  // namespace

std::span<const Command> StreamReadGroupCommands() { return kStreamReadGroupCommands; }

}  // namespace zsetd
