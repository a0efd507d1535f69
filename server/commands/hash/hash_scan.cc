#include <string>
#include <string_view>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/commands/common/scan_request.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

struct HashScanRequest : ScanRequest {
  bool with_values = true;
};

void TakeOptions(ArgReader& args, HashScanRequest& request) {
  while (args.ok() && !args.AtEnd()) {
    if (TakeScanOption(args, request)) continue;
    if (!args.Take("novalues")) args.Refuse(kSyntaxError);
    request.with_values = false;
  }
}

std::vector<Field> Advance(const Hash& hash, HashScanRequest& request) {
  std::vector<Field> found;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return hash.Scan(cursor, [&](const Field& field) {
      ++seen;
      if (request.Wants(field.name)) found.push_back(field);
    });
  });
  return found;
}

// As in Redis, the options are parsed only if there is something to scan.
void HScan(Call& call) {
  const std::string_view key = call.args.Word();
  HashScanRequest request;
  request.cursor = TakeScanCursor(call.args);
  const Hash* hash = call.Find<Hash>(key);
  if (hash != nullptr) TakeOptions(call.args, request);
  if (call.Refused()) return;
  if (hash == nullptr) request.cursor = 0;
  const std::vector<Field> found = hash ? Advance(*hash, request) : std::vector<Field>();
  call.reply.Array(2);
  call.reply.Bulk(std::to_string(request.cursor));
  call.reply.Array(request.with_values ? 2 * found.size() : found.size());
  for (const Field& field : found) {
    call.reply.Bulk(field.name);
    if (request.with_values) call.reply.Bulk(field.value);
  }
}

constexpr Command kCommands[] = {
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

std::span<const Command> HashScanCommands() { return kCommands; }

}  // namespace zsetd
