#include <string_view>
#include <vector>

#include "core/set/set.h"
#include "server/commands/common/scan_request.h"
#include "server/commands/set/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Members = std::vector<std::string_view>;

Members Advance(const Set& set, ScanRequest& request) {
  Members found;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return set.Scan(cursor, [&](std::string_view member) {
      ++seen;
      if (request.Wants(member)) found.push_back(member);
    });
  });
  return found;
}

void SScan(Call& call) {
  ScanRequest request;
  const Set* set = TakeScanOf<Set>(call, request);
  if (call.Refused()) return;
  const Members found = set == nullptr ? Members() : Advance(*set, request);
  ReplyScan(call.reply, request, found.size());
  for (const std::string_view member : found) call.reply.Bulk(member);
}

constexpr Command kSetScanCommands[] = {
    {.name = "sscan",
     .run = SScan,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kSet,
     .since = "2.8.0",
     .usage = "key cursor [MATCH pattern] [COUNT count]",
     .summary = "Iterates over members.",
     .cost = "O(1) for each member examined",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> SetScanCommands() { return kSetScanCommands; }

}  // namespace zsetd
