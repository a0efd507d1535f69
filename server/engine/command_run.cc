#include "server/engine/command_run.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "server/engine/services/scripting.h"

namespace zsetd {
namespace {

enum class Statistics : uint8_t {
  kNone,
  kOfCommand,  // its calls, its time, and the latency of its class
  kAll,        // these, and the commands of its client; MONITOR shows it
  kOfScript,   // the same without the client's
  kOfWait      // only its calls and its time, when the wait ends
};

// The consequences of a run.
struct Rules {
  bool propagates;    // its changes: those of applied requests were propagated by the sender
  bool tracks_reads;  // and holds replies that report changes which may be lost
  Statistics statistics;
};

// By CommandRun::Origin.
constexpr std::array<Rules, 5> kRules = {{
    {.propagates = true, .tracks_reads = true, .statistics = Statistics::kAll},
    {.propagates = true, .tracks_reads = true, .statistics = Statistics::kOfWait},
    {.propagates = true, .tracks_reads = true, .statistics = Statistics::kOfScript},
    {.propagates = false, .tracks_reads = false, .statistics = Statistics::kNone},
    {.propagates = false, .tracks_reads = false, .statistics = Statistics::kOfCommand},
}};

const Rules& RulesOf(CommandRun::Origin origin) { return kRules[static_cast<size_t>(origin)]; }

}  // namespace

CommandRun::Result CommandRun::Run() {
  if (engine_.effects().IsOn() && RulesOf(origin_).propagates) {
    RunAndPropagate();
  } else {
    call_.command.run(call_);
  }
  return EndSlice();
}

CommandRun::Result CommandRun::Resume() {
  call_.caller.suspended = false;
  engine_.services().scripting->Continue(call_);
  return EndSlice();
}

// EXEC and EVAL are not propagated; the commands they run are.
void CommandRun::RunAndPropagate() {
  const uint64_t changes_before = engine_.store().change_count();
  call_.command.run(call_);
  const bool is_its_own_effect = call_.command.Has(kWrite) && !call_.is_propagated();
  if (is_its_own_effect && engine_.store().change_count() != changes_before) {
    call_.PropagateRequest();
  }
}

CommandRun::Result CommandRun::EndSlice() {
  const bool is_suspended = call_.caller.suspended;
  const Rules& rules = RulesOf(origin_);
  if (rules.tracks_reads && !is_suspended) RememberReads();
  if (rules.statistics != Statistics::kNone) {
    const Micros slice = engine_.clock().EndCommand();
    took_ += slice;
    engine_.metrics().CountRun(slice);
    if (!is_suspended) Record();
  }
  if (is_suspended) [[unlikely]]
    return Result::kSuspended;
  return call_.waits() ? Result::kWaits : Result::kDone;
}

void CommandRun::RememberReads() {
  Client* const client = reader_->client();
  if (call_.command.Has(kReadOnly) && client != nullptr && client->tracking().on) {
    engine_.notifier().RememberReads(*client, call_.command, call_.argv());
  }
  if (engine_.reply_holds().IsOn()) [[unlikely]] {
    engine_.reply_holds().HoldForReads(*reader_, call_.caller.database, call_.command,
                                       call_.argv());
  }
}

// A command that waits is counted when the wait ends.
void CommandRun::Record() {
  const Command& command = call_.command;
  const Millis now = engine_.store().now();
  const Statistics statistics = RulesOf(origin_).statistics;
  Metrics& metrics = engine_.metrics();
  if (engine_.settings().cluster_slot_stats_enabled && !call_.waits() && reader_->slot) [[unlikely]]
    metrics.slots().AddTime(*reader_->slot, took_);
  if (!call_.waits()) {
    metrics.CountCall(call_.caller, command, call_.argv(), took_, now);
    if (call_.refused()) metrics.CountFailed(command);
  }
  if (statistics == Statistics::kOfWait) return;
  metrics.RecordLatency(command, took_, now);
  if (statistics == Statistics::kOfCommand) return;
  if (!command.Has(kSkipMonitor)) {
    engine_.notifier().SendToMonitors(call_.caller, command, call_.argv());
  }
  if (statistics == Statistics::kAll) ++call_.client().commands_run;
}

}  // namespace zsetd
