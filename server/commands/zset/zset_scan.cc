#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "server/commands/common/scan_request.h"
#include "server/commands/zset/families.h"
#include "server/engine/call.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

using Pairs = std::vector<std::pair<std::string, double>>;

Pairs Advance(const SortedSet& set, ScanRequest& request) {
  Pairs found;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return set.Scan(cursor, [&](const Element& element) {
      ++seen;
      if (request.Wants(element.member)) found.emplace_back(element.member, element.score);
    });
  });
  return found;
}

void ZScan(Call& call) {
  ScanRequest request;
  const SortedSet* set = TakeScanOf<SortedSet>(call, request, "noscores");
  if (call.Refused()) return;
  const Pairs found = set == nullptr ? Pairs() : Advance(*set, request);
  ReplyScan(call.reply, request, request.with_values ? 2 * found.size() : found.size());
  for (const auto& [member, score] : found) {
    call.reply.Bulk(member);
    if (request.with_values) call.reply.Bulk(ScoreText(set->form(), score, call.now()));
  }
}

constexpr Command kZSetScanCommands[] = {
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

std::span<const Command> ZSetScanCommands() { return kZSetScanCommands; }

}  // namespace zsetd
