// DUMP and RESTORE: a value as bytes that both zsetd and Redis can read.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/keyspace/access_tracker.h"
#include "core/stream/stream.h"
#include "protocol/rdb/dump_payload.h"
#include "protocol/rdb/rdb_elements.h"
#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_reader.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/dumped_value.h"
#include "server/commands/common/element_expiry.h"
#include "server/commands/common/encoding.h"
#include "server/commands/common/member_payloads.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"
#include "server/engine/store/rdb_value_reader.h"
#include "server/engine/store/rdb_value_writer.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {
namespace {

// Returns a payload that any server can read, without deadlines and payloads of elements.
std::string PlainPayloadOf(Call& call, const Entry& entry) {
  std::string payload;
  RdbWriter writer(payload, call.keys.compresses_dumps());
  writer.Type(RdbTypeOf(entry));
  WriteValue(entry, writer);
  SealPayload(payload);
  return payload;
}

void Dump(Call& call) {
  const Entry* entry = call.keys.Find(call.args.Word());
  if (entry == nullptr) return call.reply.Null();
  call.reply.Bulk(DumpedValue(call, *entry));
}

struct RestoreRequest {
  std::string_view key;
  std::string_view time_to_live;  // parsed after the options, as in Redis
  std::string_view payload;
  bool replaces = false;                // REPLACE
  bool until = false;                   // ABSTTL: the time to live is a Unix time
  std::optional<int64_t> idle_seconds;  // IDLETIME
  std::optional<int64_t> frequency;     // FREQ
};

// Takes IDLETIME or FREQ with its value. If one of them is repeated, the last value is used; both
// together are not allowed.
bool TakeUse(ArgReader& args, RestoreRequest& request) {
  if (args.left() < 2) return false;
  if (!request.frequency && args.Take("idletime")) {
    request.idle_seconds = args.Integer();
    if (request.idle_seconds < 0) args.Refuse("ERR Invalid IDLETIME value, must be >= 0");
    return true;
  }
  if (request.idle_seconds || !args.Take("freq")) return false;
  request.frequency = args.Integer();
  if (request.frequency < 0 || request.frequency > 255) {
    args.Refuse("ERR Invalid FREQ value, must be >= 0 and <= 255");
  }
  return true;
}

RestoreRequest TakeRestoreRequest(ArgReader& args) {
  RestoreRequest request;
  request.key = args.Word();
  request.time_to_live = args.Word();
  request.payload = args.Word();
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("replace")) {
      request.replaces = true;
    } else if (args.Take("absttl")) {
      request.until = true;
    } else if (!TakeUse(args, request)) {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

// Returns the deadline from the time to live; nullopt if it is 0.
std::optional<Millis> DeadlineOf(Call& call, const RestoreRequest& request) {
  const std::optional<int64_t> given = ParseInteger(request.time_to_live);
  if (!given) call.args.Refuse(kNotAnInteger);
  if (given && *given < 0) call.args.Refuse("ERR Invalid TTL value, must be >= 0");
  if (!call.args.ok() || *given == 0) return std::nullopt;
  if (request.until) return Millis(*given);
  const Millis longest = Millis::max() - call.now();
  return call.now() + std::min(Millis(*given), longest);
}

// Whether the value is a hash with fields, whatever their deadlines.
bool HasFields(Call& call, std::string_view value) {
  RdbReader reader(value, call.keys.most_string_bytes());
  const auto type = static_cast<RdbType>(reader.Byte());
  return HasFieldDeadlines(type) &&
         ReadValue(reader, type, "", std::nullopt, Millis::min(), ValueLimits()) != nullptr;
}

// Returns an entry with the payload's value. Returns null if the payload is refused, or if it is a
// hash whose fields have all expired.
std::unique_ptr<Entry> EntryOf(Call& call, const RestoreRequest& request,
                               std::optional<Millis> deadline) {
  const std::optional<std::string_view> value = OpenPayload(request.payload);
  if (!value) call.args.Refuse("ERR DUMP payload version or checksum are wrong");
  if (!call.args.ok()) return nullptr;
  RdbReader reader(*value, call.keys.most_string_bytes());
  const auto type = static_cast<RdbType>(reader.Byte());
  auto entry = call.keys.Read(reader, type, request.key, deadline);
  const bool is_sound =
      reader.ok() && reader.AtEnd() && (entry != nullptr || HasFields(call, *value));
  if (!is_sound) call.args.Refuse("ERR Bad data format");
  return entry;
}

// IDLETIME and FREQ take effect only if the eviction policy uses them.
AccessTracker::Stamp StampOf(const AccessTracker& tracker, const RestoreRequest& request) {
  if (tracker.rule().lfu && request.frequency) {
    return tracker.OfCount(static_cast<uint8_t>(*request.frequency));
  }
  if (!tracker.rule().lfu && request.idle_seconds) {
    return tracker.OfIdle(std::chrono::seconds(*request.idle_seconds));
  }
  return tracker.OfNewKey();
}

// Returns the request's payload. If it comes from a newer server, or only zsetd can read it,
// returns a new payload in `remade`.
std::string_view PropagatedPayload(Call& call, const RestoreRequest& request, std::string& remade) {
  const auto type = static_cast<RdbType>(request.payload.front());
  const bool is_known = VersionOfPayload(request.payload) <= kRdbVersionWritten &&
                        type != RdbType::kZSetDeadlines && type != RdbType::kZSetPayloads &&
                        type != RdbType::kZSetForm;
  if (is_known) return request.payload;
  remade = PlainPayloadOf(call, *call.keys.all().Find(request.key));
  return remade;
}

// Whether the value is a stream with IDs of producers. They are not in the payload that any server
// can read, so zsetd gets the whole payload, too.
bool HasProducers(const Entry& entry) {
  const Stream* const stream = entry.GetIf<Stream>();
  return stream != nullptr && stream->producers() != nullptr;
}

// Whether the value's scores have a form, which the payload for other servers omits.
bool PropagatesForm(const RestoreRequest& request) {
  return static_cast<RdbType>(request.payload.front()) == RdbType::kZSetForm;
}

void PropagateRestore(Call& call, const RestoreRequest& request, std::optional<Millis> deadline) {
  if (!call.Propagates()) return;
  std::string remade;
  const std::string_view payload = PropagatedPayload(call, request, remade);
  const std::string time = IntegerText(deadline.value_or(Millis(0)).count());
  const std::string idle = IntegerText(request.idle_seconds.value_or(0));
  const std::string frequency = IntegerText(request.frequency.value_or(0));
  std::vector<std::string_view> words = {"RESTORE", request.key, time, payload};
  if (request.replaces) words.push_back("REPLACE");
  if (deadline) words.push_back("ABSTTL");
  if (request.idle_seconds) words.insert(words.end(), {"IDLETIME", idle});
  if (request.frequency) words.insert(words.end(), {"FREQ", frequency});
  if (PropagatesForm(request)) {
    std::vector<std::string_view> own = words;
    own[3] = request.payload;
    return call.PropagateTwice(own, words);
  }
  call.Propagate(words);
  PropagateElementDeadlines(call, request.key);
  PropagateMemberPayloads(call, request.key);
  if (!HasProducers(*call.keys.all().Find(request.key))) return;
  words[3] = request.payload;
  if (!request.replaces) words.push_back("REPLACE");
  call.PropagatePrivate(words);
}

// If the key or all fields of the hash have already expired, only the existing value is deleted.
void Restore(Call& call) {
  const RestoreRequest request = TakeRestoreRequest(call.args);
  const bool is_taken = call.args.ok() && call.keys.Open(request.key) != nullptr;
  if (is_taken && !request.replaces) {
    call.args.Refuse("BUSYKEY Target key name already exists.");
  }
  const std::optional<Millis> deadline = DeadlineOf(call, request);
  std::unique_ptr<Entry> entry = EntryOf(call, request, deadline);
  if (call.Refused()) return;
  const bool has_expired = entry == nullptr || (deadline && *deadline <= call.keys.due_until());
  if (has_expired) {
    if (call.keys.Erase(request.key)) call.Propagate({"DEL", request.key});
  } else {
    entry->set_access_stamp(StampOf(call.keys.access_tracker(), request));
    call.keys.Put(std::move(entry), KeyEvent::kRestore);
    PropagateRestore(call, request, deadline);
  }
  call.reply.Ok();
}

constexpr Command kDumpCommands[] = {
    {.name = "dump",
     .run = Dump,
     .arity = 2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "key",
     .summary = "Serializes the value of a key, in Redis's RDB format.",
     .cost = "O(N) for N elements",
     .tips = "nondeterministic_output"},
    {.name = "restore",
     .run = Restore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kDangerous,
     .keys = kOneKey,
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
     .summary = "Creates a key from a DUMP payload.",
     .cost = "O(N) for N elements; O(N*log(N)) for a sorted set",
     .key_use = "OW update"},
    {.name = "restore-asking",
     .run = Restore,
     .arity = -4,
     .flags = kWrite | kDenyOom | kDangerous,
     .keys = kOneKey,
     .group = CommandGroup::kServer,
     .since = "3.0.0",
     .usage = "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
     .summary = "Like RESTORE, for MIGRATE between nodes of a cluster: needs no ASKING.",
     .cost = "O(N) for N elements; O(N*log(N)) for a sorted set",
     .key_use = "OW update",
     .implies_asking = true,
     .categories = "@keyspace"},
};

}  // namespace

std::span<const Command> DumpCommands() { return kDumpCommands; }

}  // namespace zsetd
