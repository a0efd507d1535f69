#include <string_view>
#include <vector>

#include "core/hash/hash.h"
#include "server/commands/common/scan_request.h"
#include "server/commands/hash/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

std::vector<Field> Advance(const Hash& hash, ScanRequest& request) {
  std::vector<Field> found;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return hash.Scan(cursor, [&](const Field& field) {
      ++seen;
      if (request.Wants(field.name)) found.push_back(field);
    });
  });
  return found;
}

void HScan(Call& call) {
  ScanRequest request;
  const Hash* hash = TakeScanOf<Hash>(call, request, "novalues");
  if (call.Refused()) return;
  const std::vector<Field> found = hash ? Advance(*hash, request) : std::vector<Field>();
  ReplyScan(call.reply, request, request.with_values ? 2 * found.size() : found.size());
  for (const Field& field : found) {
    call.reply.Bulk(field.name);
    if (request.with_values) call.reply.Bulk(field.value);
  }
}

constexpr Command kHashScanCommands[] = {
    {.name = "hscan",
     .run = HScan,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kHash,
     .since = "2.8.0",
     .usage = "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
     .summary = "Iterates over fields and values.",
     .cost = "O(1) for each field examined",
     .tips = "nondeterministic_output"},
};

}  // namespace

std::span<const Command> HashScanCommands() { return kHashScanCommands; }

}  // namespace zsetd
