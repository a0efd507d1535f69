// DEBUG, for test suites only. Disabled unless enable-debug-command permits it.

#include "server/commands/debug/debug.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/glob.h"
#include "server/commands/debug/families.h"
#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/size_text.h"

namespace zsetd {
namespace {

constexpr double kMaxSleep_s = 1e9;  // longer times are reduced to this

// A subcommand by its name and the number of its arguments. As in Redis, COMMAND does not report
// subcommands of DEBUG.
struct DebugSubcommand {
  std::string_view name;
  void (*run)(AdminCall&);
  size_t least = 0;  // of arguments
  size_t most = 0;
  std::string_view usage;
  std::string_view summary;
};

void FailUnknown(AdminCall& call, std::string_view name) {
  call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
            std::string(name.substr(0, 128)) + "'. Try DEBUG HELP.");
}

// The server's time advances during the sleep, even within a transaction. Test suites need that.
void Sleep(AdminCall& call) {
  const double time_s = std::clamp(call.args.Float(), 0.0, kMaxSleep_s);
  if (call.Refused()) return;
  const Host& host = call.engine.host();
  host.sleep(Micros(static_cast<int64_t>(time_s * 1e6)));
  call.engine.executor().AdvanceTo(std::chrono::duration_cast<Millis>(host.wall_clock()));
  call.reply.Ok();
}

void SetActiveExpire(AdminCall& call) {
  const int64_t on = call.args.Integer();
  if (call.Refused()) return;
  call.engine.store().set_expires_actively(on != 0);
  call.reply.Ok();
}

void PauseCron(AdminCall& call) {
  const int64_t on = call.args.Integer();
  if (call.Refused()) return;
  call.engine.clients().set_maintains(on == 0);
  call.reply.Ok();
}

// Replies the error that the client sent. The error statistics do not count it.
void Error(AdminCall& call) { call.reply.Error(call.args.Word()); }

void Log(AdminCall& call) {
  call.engine.host().log->Write(LogLevel::kWarning, "DEBUG LOG: " + std::string(call.args.Word()));
  call.reply.Ok();
}

void AllocatorMap(AdminCall& call) { call.reply.Verbatim("txt", AllocatorReport()); }

// Accepted without effect. Redis packs elements below this size together. zsetd packs by a fixed
// size, which clients cannot observe.
void PackedThreshold(AdminCall& call) {
  constexpr uint64_t kMost = (uint64_t{4} << 30) - (1 << 20);
  const std::optional<uint64_t> bytes = ParseSize(call.args.Word());
  if (!bytes || *bytes > kMost) {
    return call.Fail("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  }
  call.reply.Ok();
}

// Accepted without effect. Redis resizes the buffer of a client's replies by its peak. Here the
// buffer grows and shrinks with each reply. Test suites call this before they measure.
void ReplyBuffer(AdminCall& call) {
  if (call.args.Take("peak-reset-time")) {
    if (!call.args.Take("never") && !call.args.Take("reset")) call.args.Integer();
  } else if (call.args.Take("resizing")) {
    call.args.Word();
  } else {
    return FailUnknown(call, "REPLYBUFFER");
  }
  if (call.Refused()) return;
  call.reply.Ok();
}

void StringMatch(AdminCall& call) {
  const std::string_view pattern = call.args.Word();
  const bool matches = GlobMatches(pattern, call.args.Word());
  call.reply.Integer(matches ? 1 : 0);
}

// Accepted without effect: sends nothing to replicas.
void Replicate(AdminCall& call) { call.reply.Ok(); }

void ChangeReplicationId(AdminCall& call) {
  call.engine.replication().Restart();
  call.reply.Ok();
}

void ListSubcommands(AdminCall& call);

constexpr size_t kAny = SIZE_MAX;

constexpr DebugSubcommand kSubcommands[] = {
    {"CHANGE-REPL-ID", ChangeReplicationId, 0, 0, "", "Changes the replication ID."},
    {"DIGEST", DebugDigest, 0, 0, "", "Returns a digest of all data, the same as Redis's."},
    {"DIGEST-VALUE", DebugDigestValue, 0, kAny, "[key ...]",
     "Returns a digest of each key's value."},
    {"ERROR", Error, 1, 1, "message", "Replies with this error."},
    {"HTSTATS", DebugHashTables, 1, 2, "index [FULL]", "Describes a database's hash tables."},
    {"HTSTATS-KEY", DebugHashTableOf, 1, 2, "key [FULL]",
     "Describes the hash table of a set or hash."},
    {"JMAP", AllocatorMap, 0, 0, "", "Returns the allocator's statistics."},
    {"LISTPACK", DebugListpack, 1, 1, "key", "Logs the size of a listpack."},
    {"LOADAOF", DebugLoadLog, 0, 0, "", "Writes the append-only log to its end, and loads it."},
    {"LOG", Log, 1, 1, "message", "Writes a line to the log."},
    {"OBJECT", DebugObject, 1, 2, "key [FAST]", "Describes how a key's value is stored."},
    {"PAUSE-CRON", PauseCron, 1, 1, "<0|1>",
     "1: stops closing idle and stalled clients. 0: resumes."},
    {"POPULATE", DebugPopulate, 1, 3, "count [prefix] [bytes]",
     "Creates string keys prefix:0, prefix:1 ..."},
    {"PROTOCOL", DebugProtocol, 1, 1, "type", "Returns a reply of that type."},
    {"QUICKLIST", DebugQuicklist, 1, 2, "key [0|1]", "Logs the size of a quicklist."},
    {"QUICKLIST-PACKED-THRESHOLD", PackedThreshold, 1, 1, "size",
     "Checks the size; has no effect."},
    {"RELOAD", DebugReload, 0, kAny, "[MERGE] [NOFLUSH] [NOSAVE]",
     "Saves a snapshot, unless NOSAVE, and loads it. NOFLUSH: adds to the data in memory. MERGE: "
     "replaces keys that exist."},
    {"REPLICATE", Replicate, 1, kAny, "word [word ...]", "Does nothing: there are no replicas."},
    {"REPLYBUFFER", ReplyBuffer, 2, 2, "<PEAK-RESET-TIME|RESIZING> value",
     "Checks the setting and ignores it: buffers grow and shrink with each reply."},
    {"SDSLEN", DebugStringLength, 1, 1, "key", "Returns the size and capacity of a string."},
    {"SET-ACTIVE-EXPIRE", SetActiveExpire, 1, 1, "<0|1>",
     "0: deletes expired keys only on access. 1: also actively."},
    {"SLEEP", Sleep, 1, 1, "seconds", "Suspends the server; fractions are allowed."},
    {"STRINGMATCH-LEN", StringMatch, 2, 2, "pattern text",
     "Matches a text against a glob pattern."},
    {"STRUCTSIZE", DebugStructSizes, 0, 0, "", "Returns the sizes of objects, in bytes."},
    {"HELP", ListSubcommands, 0, 0, "", "Lists the subcommands."},
};

void ListSubcommands(AdminCall& call) {
  call.reply.Array(1 + 2 * std::size(kSubcommands));
  call.reply.Simple("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
  for (const DebugSubcommand& each : kSubcommands) {
    call.reply.Simple(std::string(each.name) + (each.usage.empty() ? "" : " ") +
                      std::string(each.usage));
    call.reply.Simple("    " + std::string(each.summary));
  }
}

void Debug(AdminCall& call) {
  const std::string_view name = call.args.Word();
  const size_t count = call.args.left();
  const auto* found = std::ranges::find_if(kSubcommands, [&](const DebugSubcommand& each) {
    return EqualsIgnoringCase(each.name, name) && count >= each.least && count <= each.most;
  });
  if (found != std::end(kSubcommands)) return found->run(call);
  FailUnknown(call, name);
}

constexpr Command kDebugCommands[] = {
    {.name = "debug",
     .run = Debug,
     .arity = -2,
     .flags = kAdmin | kNoScript | kLoading | kStale | kNeedsDebugEnabled,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "subcommand [argument [argument ...]]",
     .summary = "Debugging commands; see DEBUG HELP.",
     .cost = "Depends on the subcommand"},
};

}  // namespace

std::span<const Command> DebugCommands() { return kDebugCommands; }

}  // namespace zsetd
