#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/commands/common/scan_request.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Pairs = std::vector<std::pair<std::string, double>>;

struct SetScanRequest : ScanRequest {
  bool with_scores = true;
};

void TakeOptions(ArgReader& args, SetScanRequest& request) {
  while (args.ok() && !args.AtEnd()) {
    if (TakeScanOption(args, request)) continue;
    if (!args.Take("noscores")) args.Refuse(kSyntaxError);
    request.with_scores = false;
  }
}

Pairs Advance(const SortedSet& set, SetScanRequest& request) {
  Pairs found;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return set.Scan(cursor, [&](const Element& element) {
      ++seen;
      if (request.Wants(element.member)) found.emplace_back(element.member, element.score);
    });
  });
  return found;
}

void ReplyScan(Call& call, const SetScanRequest& request, const Pairs& found) {
  call.reply.Array(2);
  call.reply.Bulk(std::to_string(request.cursor));
  call.reply.Array(request.with_scores ? 2 * found.size() : found.size());
  for (const auto& [member, score] : found) {
    call.reply.Bulk(member);
    if (request.with_scores) call.reply.Bulk(DoubleText(score));
  }
}

// As in Redis, the options are parsed only if there is something to scan.
void ZScan(Call& call) {
  const std::string_view key = call.args.Word();
  SetScanRequest request;
  request.cursor = TakeScanCursor(call.args);
  const SortedSet* set = call.Find<SortedSet>(key);
  if (set != nullptr) TakeOptions(call.args, request);
  if (call.Refused()) return;
  if (set == nullptr) request.cursor = 0;
  ReplyScan(call, request, set == nullptr ? Pairs() : Advance(*set, request));
}

constexpr Command kCommands[] = {
    {.name = "zscan",
     .run = ZScan,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSortedSet,
     .since = "2.8.0",
     .usage = "key cursor [MATCH pattern] [COUNT count] [NOSCORES]",
     .summary = "Iterates over members and scores.",
     .cost = "O(1) for each member examined",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> ZSetScanCommands() { return kCommands; }

}  // namespace zsetd
