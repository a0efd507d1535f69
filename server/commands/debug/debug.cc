// DEBUG: what test suites need and nobody else should have; enable-debug-command opens it.

#include "server/commands/debug/debug.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/util/glob.h"
#include "server/commands/all_commands.h"
#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/size_text.h"

namespace zsetd {
namespace {

constexpr double kMaxSleep_s = 1e9;  // what is longer is not told apart

// A subcommand by its name and the number of its arguments. DEBUG is no command with subcommands
// for COMMAND, nor is it in Redis.
struct DebugSubcommand {
  std::string_view name;
  void (*run)(Call&);
  size_t least = 0;  // arguments
  size_t most = 0;
  std::string_view usage;
  std::string_view summary;
};

// The present moves on with it, even within a transaction: that is what it is there for.
void Sleep(Call& call) {
  const double time_s = std::clamp(call.args.Float(), 0.0, kMaxSleep_s);
  if (call.Refused()) return;
  const Host& host = call.engine.host();
  host.sleep(Micros(static_cast<int64_t>(time_s * 1e6)));
  call.engine.AdvanceTo(std::chrono::duration_cast<Millis>(host.wall_clock()));
  call.reply.Ok();
}

void SetActiveExpire(Call& call) {
  const int64_t on = call.args.Integer();
  if (call.Refused()) return;
  call.engine.set_expires_unasked(on != 0);
  call.reply.Ok();
}

void PauseCron(Call& call) {
  const int64_t on = call.args.Integer();
  if (call.Refused()) return;
  call.engine.set_looks_after_clients(on == 0);
  call.reply.Ok();
}

// The reply is the client's own error, which counts as none of ours.
void Error(Call& call) { call.reply.Error(call.args.Word()); }

void Log(Call& call) {
  call.engine.host().log("DEBUG LOG: " + std::string(call.args.Word()));
  call.reply.Ok();
}

void AllocatorMap(Call& call) { call.reply.Verbatim("txt", AllocatorReport()); }

// Redis packs elements below this size together; zsetd packs by a fixed size, and elements of any
// size come out as they went in.
void PackedThreshold(Call& call) {
  constexpr uint64_t kMost = (uint64_t{4} << 30) - (1 << 20);
  const std::optional<uint64_t> bytes = ParseSize(call.args.Word());
  if (!bytes || *bytes > kMost) {
    return call.Fail("ERR argument must be a memory value bigger than 1 and smaller than 4gb");
  }
  call.reply.Ok();
}

void StringMatch(Call& call) {
  const std::string_view pattern = call.args.Word();
  const bool matches = GlobMatches(pattern, call.args.Word());
  call.reply.Integer(matches ? 1 : 0);
}

// There are no replicas to tell.
void Replicate(Call& call) { call.reply.Ok(); }

void ChangeReplicationId(Call& call) {
  call.engine.ChangeReplicationId();
  call.reply.Ok();
}

void ListSubcommands(Call& call);

constexpr size_t kAny = SIZE_MAX;

constexpr DebugSubcommand kSubcommands[] = {
    {"CHANGE-REPL-ID", ChangeReplicationId, 0, 0, "", "Takes another replication ID."},
    {"DIGEST", DebugDigest, 0, 0, "", "Tells a fingerprint of all data, the same as Redis's."},
    {"DIGEST-VALUE", DebugDigestValue, 0, kAny, "[key ...]",
     "Tells a fingerprint of what each key holds."},
    {"ERROR", Error, 1, 1, "message", "Replies this error."},
    {"HTSTATS", DebugHashTables, 1, 2, "index [FULL]", "Tells how a database's keys are spread."},
    {"HTSTATS-KEY", DebugHashTableOf, 1, 2, "key [FULL]", "The same for a set or a hash."},
    {"JMAP", AllocatorMap, 0, 0, "", "Tells what the allocator says of itself."},
    {"LISTPACK", DebugListpack, 1, 1, "key", "Logs what a value takes, if it is a listpack."},
    {"LOG", Log, 1, 1, "message", "Writes a line to the log."},
    {"OBJECT", DebugObject, 1, 2, "key [FAST]", "Tells how a key's value is kept."},
    {"PAUSE-CRON", PauseCron, 1, 1, "<0|1>",
     "1: idle clients and those that do not read are let be. 0: they are closed again."},
    {"POPULATE", DebugPopulate, 1, 3, "count [prefix] [bytes]",
     "Makes keys prefix:0, prefix:1 ... with strings."},
    {"PROTOCOL", DebugProtocol, 1, 1, "type", "Gives a reply of that type."},
    {"QUICKLIST", DebugQuicklist, 1, 2, "key [0|1]",
     "Logs what a value takes, if it is a quicklist."},
    {"QUICKLIST-PACKED-THRESHOLD", PackedThreshold, 1, 1, "size",
     "Checks the size and goes on as before: how elements are packed is fixed."},
    {"RELOAD", DebugReload, 0, kAny, "[MERGE] [NOFLUSH] [NOSAVE]",
     "Writes all values in the format of DUMP and reads them back, in memory."},
    {"REPLICATE", Replicate, 1, kAny, "word [word ...]", "Tells all replicas: there are none."},
    {"SDSLEN", DebugStringLength, 1, 1, "key", "Tells how much room a string has."},
    {"SET-ACTIVE-EXPIRE", SetActiveExpire, 1, 1, "<0|1>",
     "0: keys past their deadline are freed only when they are asked for. 1: at once again."},
    {"SLEEP", Sleep, 1, 1, "seconds",
     "Stops the whole server for so long; fractions are possible."},
    {"STRINGMATCH-LEN", StringMatch, 2, 2, "pattern text", "Tells whether the text matches."},
    {"STRUCTSIZE", DebugStructSizes, 0, 0, "", "Tells what objects take, in bytes."},
    {"HELP", ListSubcommands, 0, 0, "", "Tells the subcommands."},
};

void ListSubcommands(Call& call) {
  call.reply.Array(1 + 2 * std::size(kSubcommands));
  call.reply.Simple("DEBUG <subcommand> [<argument> ...], of these:");
  for (const DebugSubcommand& each : kSubcommands) {
    call.reply.Simple(std::string(each.name) + (each.usage.empty() ? "" : " ") +
                      std::string(each.usage));
    call.reply.Simple("    " + std::string(each.summary));
  }
}

void Debug(Call& call) {
  const std::string_view name = call.args.Word();
  const size_t count = call.args.left();
  const auto* found = std::ranges::find_if(kSubcommands, [&](const DebugSubcommand& each) {
    return EqualsIgnoringCase(each.name, name) && count >= each.least && count <= each.most;
  });
  if (found != std::end(kSubcommands)) return found->run(call);
  call.Fail("ERR unknown subcommand or wrong number of arguments for '" +
            std::string(name.substr(0, 128)) + "'. Try DEBUG HELP.");
}

constexpr Command kCommands[] = {
    {.name = "debug",
     .run = Debug,
     .arity = -2,
     .flags = kAdmin | kNoScript | kLoading | kStale | kProtected,
     .group = CommandGroup::kServer,
     .since = "1.0.0",
     .usage = "subcommand [argument [argument ...]]",
     .summary = "Helps to test clients and the server; see DEBUG HELP.",
     .cost = "That of the subcommand"},
};

}  // namespace

std::span<const Command> DebugCommands() { return kCommands; }

}  // namespace zsetd
