#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/stream.h"
#include "server/commands/stream/claim_effects.h"
#include "server/commands/stream/families.h"
#include "server/commands/stream/id_effects.h"
#include "server/commands/stream/stream_id_text.h"
#include "server/commands/stream/stream_reply.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

// The arguments before the IDs: key group consumer min-idle-time
struct Claimant {
  std::string_view key;
  std::string_view group;
  std::string_view consumer;
  std::string_view min_idle;
};

struct ClaimRequest {
  Millis min_idle{0};
  std::vector<StreamId> ids;
  Millis delivered{0};
  std::optional<uint64_t> deliveries;  // RETRYCOUNT
  bool force = false;
  bool just_ids = false;
  StreamId last_id;
};

Claimant TakeClaimant(ArgReader& args) {
  Claimant claimant;
  claimant.key = args.Word();
  claimant.group = args.Word();
  claimant.consumer = args.Word();
  claimant.min_idle = args.Word();
  return claimant;
}

Millis MinIdleOf(ArgReader& args, const Claimant& claimant, std::string_view error) {
  ArgReader word({&claimant.min_idle, 1}, 0);
  const int64_t min_idle = word.Integer(error);
  if (!word.ok()) args.Refuse(word.status());
  return Millis(std::max<int64_t>(min_idle, 0));
}

// Takes IDs up to the first argument of another form.
std::vector<StreamId> TakeIds(ArgReader& args) {
  std::vector<StreamId> ids;
  while (!args.AtEnd()) {
    const std::optional<StreamId> id = ParseStreamId(args.Peek());
    if (!id) break;
    ids.push_back(*id);
    args.Word();
  }
  return ids;
}

// A time in the future, or before 1970, is taken as now.
Millis SaneTime(int64_t millis, Millis now) {
  return millis < 0 || Millis(millis) > now ? now : Millis(millis);
}

void TakeClaimOption(Call& call, ClaimRequest& request) {
  ArgReader& args = call.args;
  const bool has_value = args.left() >= 2;
  if (args.Take("force")) {
    request.force = true;
  } else if (args.Take("justid")) {
    request.just_ids = true;
  } else if (has_value && args.Take("idle")) {
    const int64_t idle = args.Integer("ERR Invalid IDLE option argument for XCLAIM");
    request.delivered = idle < 0 ? call.now() : SaneTime(call.now().count() - idle, call.now());
  } else if (has_value && args.Take("time")) {
    request.delivered =
        SaneTime(args.Integer("ERR Invalid TIME option argument for XCLAIM"), call.now());
  } else if (has_value && args.Take("retrycount")) {
    const int64_t count = args.Integer("ERR Invalid RETRYCOUNT option argument for XCLAIM");
    if (count >= 0) request.deliveries = static_cast<uint64_t>(count);
  } else if (has_value && args.Take("lastid")) {
    request.last_id = TakeStreamId(args);
  } else {
    args.Refuse("ERR Unrecognized XCLAIM option " + Quoted(args.Peek()));
  }
}

ClaimRequest TakeClaimRequest(Call& call, const Claimant& claimant) {
  ClaimRequest request;
  request.min_idle =
      MinIdleOf(call.args, claimant, "ERR Invalid min-idle-time argument for XCLAIM");
  request.delivered = call.now();
  if (!call.args.ok()) return request;
  request.ids = TakeIds(call.args);
  while (call.args.ok() && !call.args.AtEnd()) TakeClaimOption(call, request);
  return request;
}

// The number of deliveries after a claim. XNACK FATAL sets the greatest one, which stays.
uint64_t NextDeliveries(uint64_t deliveries, bool just_ids) {
  return deliveries + (!just_ids && deliveries < INT64_MAX);
}

// Claims entries of a group for a consumer.
class Claims {
 public:
  // The group exists.
  Claims(Call& call, const Claimant& claimant, bool just_ids)
      : call_(call),
        claimant_(claimant),
        just_ids_(just_ids),
        stream_(call.Open<Stream>(claimant.key, KeyEvent::kNone)),
        group_(*stream_->ChangeGroup(claimant.group)),
        effects_(call, claimant.key, claimant.group, group_, claimant.consumer) {}

  const Stream& stream() const { return *stream_; }
  ConsumerGroup& group() { return group_; }
  const std::vector<StreamId>& claimed() const { return claimed_; }
  const std::vector<StreamId>& deleted() const { return deleted_; }

  bool IsIdle(const PendingEntry& entry, Millis min_idle) const {
    return min_idle == Millis(0) || entry.IsIdleSince(call_.now() - min_idle);
  }

  // Creates the consumer if it does not exist, and sets the time of its last request, as Redis 7.2
  // does even if it receives nothing. If this is not called, Claim() releases entries.
  void NoteConsumer() {
    const auto [consumer, is_new] = group_.Seen(claimant_.consumer, call_.now());
    consumer_ = &consumer;
    is_new_consumer_ = is_new;
    if (is_new) stream_.ReportAs(KeyEvent::kXGroupCreateConsumer);
  }

  void Claim(StreamId id, Millis delivered, uint64_t deliveries) {
    if (consumer_ == nullptr) {
      group_.Release(id, deliveries);
    } else {
      consumer_->active = call_.now();
      group_.SetPending(id, *consumer_, delivered, deliveries);
    }
    claimed_.push_back(id);
    times_.push_back({delivered, deliveries});
  }

  // The entry is no longer pending, because the stream does not have it.
  void Drop(StreamId id) {
    if (group_.Acknowledge(id)) deleted_.push_back(id);
  }

  // Sets the position if it is above the present one.
  void MoveTo(StreamId last_id) {
    if (last_id <= group_.last_id()) return;
    group_.SetPosition(last_id, group_.entries_read());
    moved_ = true;
  }

  // Replies the claimed entries, or their IDs.
  void ReplyClaimed() const {
    call_.reply.Array(claimed_.size());
    for (const StreamId id : claimed_) {
      if (just_ids_) {
        ReplyStreamId(call_.reply, id);
      } else {
        ReplyEntryAt(call_.reply, *stream_, id);
      }
    }
  }

  // Counts and propagates the changes. Must be called once.
  void End() {
    stream_->CountChanges(claimed_.size() + deleted_.size() + moved_ + is_new_consumer_);
    call_.MarkPropagated();
    if (!call_.Propagates()) return;
    PropagateIds(call_, {"XACK", claimant_.key, claimant_.group}, deleted_);
    for (size_t i = 0; i < claimed_.size(); ++i) {
      effects_.Add(claimed_[i], times_[i].delivered, times_[i].deliveries);
    }
    effects_.Flush();
    if (is_new_consumer_ && !effects_.any()) {
      PropagateNewConsumer(call_, claimant_.key, claimant_.group, claimant_.consumer);
    }
    if (moved_ && !effects_.any())
      PropagateGroupPosition(call_, claimant_.key, claimant_.group, group_);
  }

 private:
  struct Delivery {
    Millis delivered;
    uint64_t deliveries;
  };

  Call& call_;
  const Claimant& claimant_;
  const bool just_ids_;
  Edit<Stream> stream_;
  ConsumerGroup& group_;
  ClaimEffects effects_;
  bool moved_ = false;
  Consumer* consumer_ = nullptr;
  bool is_new_consumer_ = false;
  std::vector<StreamId> claimed_;
  std::vector<Delivery> times_;
  std::vector<StreamId> deleted_;
};

// Refuses the request if there is no such group. Redis looks it up before it parses the options.
void CheckGroup(Call& call, const Claimant& claimant) {
  const Stream* const stream = call.Find<Stream>(claimant.key);
  const bool exists = stream != nullptr && stream->FindGroup(claimant.group) != nullptr;
  if (!exists) call.args.Refuse(NoGroup(claimant.key, claimant.group));
}

void ClaimEach(Claims& claims, const ClaimRequest& request) {
  for (const StreamId id : request.ids) {
    if (!claims.stream().Contains(id)) {
      claims.Drop(id);
      continue;
    }
    const std::optional<PendingEntry> entry = claims.group().pending().Find(id);
    if (!entry && !request.force) continue;
    if (entry && !claims.IsIdle(*entry, request.min_idle)) continue;
    const uint64_t before = entry ? entry->deliveries : 1;
    const uint64_t usual = NextDeliveries(before, request.just_ids);
    claims.Claim(id, request.delivered, request.deliveries.value_or(usual));
  }
}

void XClaim(Call& call) {
  const Claimant claimant = TakeClaimant(call.args);
  CheckGroup(call, claimant);
  ClaimRequest request = TakeClaimRequest(call, claimant);
  if (call.Refused()) return;
  Claims claims(call, claimant, request.just_ids);
  // A claim of the empty consumer at time 0 is the effect of XNACK. That of a client is at time 1.
  if (claimant.consumer.empty() && !call.keys.applies_effects()) {
    request.delivered = std::max(request.delivered, Millis(1));
  }
  const bool releases = claimant.consumer.empty() && request.delivered == Millis(0);
  if (!releases) claims.NoteConsumer();
  claims.MoveTo(request.last_id);
  ClaimEach(claims, request);
  claims.ReplyClaimed();
  claims.End();
}

struct AutoClaimRequest {
  Millis min_idle{0};
  StreamId start;
  uint64_t count = 100;
  bool just_ids = false;
};

AutoClaimRequest TakeAutoClaimRequest(ArgReader& args, const Claimant& claimant) {
  constexpr int64_t kMostCount = INT64_MAX / 16;
  AutoClaimRequest request;
  request.min_idle = MinIdleOf(args, claimant, "ERR Invalid min-idle-time argument for XAUTOCLAIM");
  request.start = TakeRangeStart(args);
  while (args.ok() && !args.AtEnd()) {
    if (args.left() >= 2 && args.Take("count")) {
      request.count = static_cast<uint64_t>(args.IntegerIn(1, kMostCount, "ERR COUNT must be > 0"));
    } else if (args.Take("justid")) {
      request.just_ids = true;
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

// Claims idle entries from the start on. Returns the ID of the next pending entry, or 0-0.
StreamId ClaimIdle(Claims& claims, const AutoClaimRequest& request, Millis now) {
  constexpr uint64_t kVisitedPerClaim = 10;
  uint64_t left = request.count;
  uint64_t visits = request.count * kVisitedPerClaim;
  StreamId from = request.start;
  while (true) {
    const PendingEntries::Cursor at(claims.group().pending(), from);
    if (!at.valid()) return kFirstStreamId;
    const PendingEntry entry = at.entry();
    if (visits-- == 0 || left == 0) return entry.id;
    if (!claims.stream().Contains(entry.id)) {
      claims.Drop(entry.id);
      --left;
    } else if (claims.IsIdle(entry, request.min_idle)) {
      claims.Claim(entry.id, now, NextDeliveries(entry.deliveries, request.just_ids));
      --left;
    }
    const std::optional<StreamId> next = entry.id.Next();
    if (!next) return kFirstStreamId;
    from = *next;
  }
}

void XAutoClaim(Call& call) {
  const Claimant claimant = TakeClaimant(call.args);
  const AutoClaimRequest request = TakeAutoClaimRequest(call.args, claimant);
  CheckGroup(call, claimant);
  if (call.Refused()) return;
  Claims claims(call, claimant, request.just_ids);
  claims.NoteConsumer();
  const StreamId next = ClaimIdle(claims, request, call.now());
  call.reply.Array(3);
  ReplyStreamId(call.reply, next);
  claims.ReplyClaimed();
  call.reply.Array(claims.deleted().size());
  for (const StreamId id : claims.deleted()) ReplyStreamId(call.reply, id);
  claims.End();
}

constexpr Command kStreamClaimCommands[] = {
    {.name = "xclaim",
     .run = XClaim,
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "5.0.0",
     .usage = "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-ms] "
              "[RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]",
     .summary = "Changes the consumer of pending entries.",
     .cost = "O(N*log(M)) for N IDs and M pending entries",
     .key_use = "RW update",
     .tips = "nondeterministic_output"},
    {.name = "xautoclaim",
     .run = XAutoClaim,
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kOneKey,
     .group = CommandGroup::kStream,
     .since = "6.2.0",
     .usage = "key group consumer min-idle-time start [COUNT count] [JUSTID]",
     .summary = "Changes the consumer of entries that have been pending for some time.",
     .cost = "O(N*log(M)) for N entries visited and M pending entries",
     .key_use = "RW delete",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> StreamClaimCommands() { return kStreamClaimCommands; }

}  // namespace zsetd
