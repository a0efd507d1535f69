#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/commands/common/help.h"
#include "server/commands/diagnostics/families.h"
#include "server/commands/diagnostics/latency_histogram_report.h"
#include "server/commands/diagnostics/latency_report.h"
#include "server/engine/admin_call.h"

namespace zsetd {
namespace {

void Latest(AdminCall& call) {
  const LatencyMonitor::Events& events = call.engine.metrics().latency().events();
  call.reply.Array(events.size());
  for (const auto& [event, series] : events) {
    call.reply.Array(4);
    call.reply.Bulk(event);
    call.reply.Integer(series.samples.back().second);
    call.reply.Integer(series.samples.back().took.count());
    call.reply.Integer(series.worst.count());
  }
}

void History(AdminCall& call) {
  const LatencyMonitor::Events& events = call.engine.metrics().latency().events();
  const auto found = events.find(call.args.Word());
  if (found == events.end()) return call.reply.Array(0);
  call.reply.Array(found->second.samples.size());
  for (const LatencySample& sample : found->second.samples) {
    call.reply.Array(2);
    call.reply.Integer(sample.second);
    call.reply.Integer(sample.took.count());
  }
}

void Graph(AdminCall& call) {
  const LatencyMonitor::Events& events = call.engine.metrics().latency().events();
  const std::string_view event = call.args.Word();
  const auto found = events.find(event);
  if (found == events.end()) {
    return call.Fail("ERR No samples available for event " + Quoted(event));
  }
  call.reply.Verbatim("txt", LatencyGraph(event, found->second, call.now()));
}

void Doctor(AdminCall& call) { call.reply.Verbatim("txt", LatencyAdvice(call.engine)); }

void ResetEvents(AdminCall& call) {
  LatencyMonitor& latency = call.engine.metrics().latency();
  std::vector<std::string> events;
  for (const std::string_view event : call.args.Rest()) events.emplace_back(event);
  if (events.empty()) {
    for (const auto& [event, series] : latency.events()) events.push_back(event);
  }
  int64_t forgotten = 0;
  for (const std::string& event : events) forgotten += latency.Reset(event) ? 1 : 0;
  call.reply.Integer(forgotten);
}

constexpr uint32_t kLatencyFlags = kAdmin | kNoScript | kLoading | kStale;

constexpr CommandGroup kGroup = CommandGroup::kServer;

constexpr std::string_view kTips =
    "nondeterministic_output request_policy:all_nodes response_policy:special";

constexpr Command kLatencyCommands[] = {
    {.name = "latency",
     .arity = -2,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Latency monitoring.",
     .cost = "Depends on the subcommand"},
    {.name = "latency|doctor",
     .run = Doctor,
     .arity = 2,
     .flags = kLatencyFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Returns a human-readable latency analysis.",
     .cost = "O(1)",
     .tips = kTips},
    {.name = "latency|graph",
     .run = Graph,
     .arity = 3,
     .flags = kLatencyFlags,
     .group = kGroup,
     .since = "2.8.13",
     .usage = "event",
     .summary = "Draws an ASCII graph of an event's latency.",
     .cost = "O(1)",
     .tips = kTips},
    {.name = "latency|help",
     .run = Help,
     .arity = 2,
     .flags = kLoading | kStale,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Lists the subcommands.",
     .cost = "O(1)"},
    {.name = "latency|histogram",
     .run = ReplyLatencyHistograms,
     .arity = -2,
     .flags = kLatencyFlags,
     .inspects = true,
     .group = kGroup,
     .since = "7.0.0",
     .usage = "[command [command ...]]",
     .summary = "Returns latency histograms of commands.",
     .cost = "O(N) for N commands",
     .tips = kTips},
    {.name = "latency|history",
     .run = History,
     .arity = 3,
     .flags = kLatencyFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .usage = "event",
     .summary = "Returns the latency samples of an event.",
     .cost = "O(1)",
     .tips = kTips},
    {.name = "latency|latest",
     .run = Latest,
     .arity = 2,
     .flags = kLatencyFlags,
     .inspects = true,
     .group = kGroup,
     .since = "2.8.13",
     .summary = "Returns the latest latency sample of each event.",
     .cost = "O(1)",
     .tips = kTips},
    {.name = "latency|reset",
     .run = ResetEvents,
     .arity = -2,
     .flags = kLatencyFlags,
     .group = kGroup,
     .since = "2.8.13",
     .usage = "[event [event ...]]",
     .summary = "Clears the latency data of events.",
     .cost = "O(1)",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

}  // namespace

std::span<const Command> LatencyCommands() { return kLatencyCommands; }

}  // namespace zsetd
