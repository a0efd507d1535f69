#include "server/commands/diagnostics/latency_histogram_report.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

// Returns the longest time of a bar: 1.024 microseconds times a power of two, increased to the
// largest value that Redis's histogram does not distinguish from it: 1, 2, 4, 8, 16, 33, 66 ...
Micros BarOf(int number) { return Micros(((int64_t{1032} << number) - 1) / 1000); }

// A time, and the number of calls that took at most this time.
using Bar = std::pair<Micros, uint64_t>;

// Returns the bars that are higher than the previous one.
std::vector<Bar> BarsOf(const LatencyHistogram& histogram) {
  constexpr int kMost = 50;  // the times of later bars are longer than any server runs
  std::vector<Bar> bars;
  uint64_t told = 0;
  for (int number = 0; told < histogram.count() && number < kMost; ++number) {
    const Micros longest = BarOf(number);
    const uint64_t count = histogram.CountUpTo(longest);
    if (count > told) bars.emplace_back(longest, count);
    told = count;
  }
  return bars;
}

void ReplyHistogram(ReplyWriter& reply, const LatencyHistogram& histogram) {
  const std::vector<Bar> bars = BarsOf(histogram);
  reply.Map(2);
  reply.Bulk("calls");
  reply.Integer(static_cast<int64_t>(histogram.count()));
  reply.Bulk("histogram_usec");
  reply.Map(bars.size());
  for (const auto& [longest, count] : bars) {
    reply.Integer(longest.count());
    reply.Integer(static_cast<int64_t>(count));
  }
}

// Returns the named commands with their subcommands, or all commands if none is named.
std::vector<const Command*> NamedCommands(AdminCall& call) {
  const CommandTable& table = call.engine.commands();
  std::vector<const Command*> commands;
  const auto add = [&](const Command& row) { commands.push_back(&row); };
  if (call.args.AtEnd()) {
    for (const Command& row : table.rows()) add(row);
  }
  for (const std::string_view name : call.args.Rest()) {
    const Command* const command = table.Find(name);
    if (command == nullptr) continue;
    add(*command);
    if (command->IsSubcommand()) continue;
    for (const Command& row : table.SubcommandsOf(*command)) add(row);
  }
  return commands;
}

}  // namespace

void ReplyLatencyHistograms(AdminCall& call) {
  const Metrics& metrics = call.engine.metrics();
  std::vector<const Command*> commands = NamedCommands(call);
  std::erase_if(commands,
                [&](const Command* each) { return metrics.of(*each).latency.count() == 0; });
  call.reply.Map(commands.size());
  for (const Command* command : commands) {
    call.reply.Bulk(command->name);
    ReplyHistogram(call.reply, metrics.of(*command).latency);
  }
}

}  // namespace zsetd
