#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/glob.h"
#include "server/commands/common/scan_request.h"
#include "server/commands/key/families.h"
#include "server/engine/call.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

void ReplyKeys(Call& call, const std::vector<std::string_view>& keys) {
  call.reply.Array(keys.size());
  for (const std::string_view key : keys) call.reply.Bulk(key);
}

// Stops as soon as the reply is known to be too long.
void Keys(Call& call) {
  const std::string_view pattern = call.args.Word();
  const size_t most_bytes = call.reply.most_bytes();
  std::vector<std::string_view> found;
  size_t bytes = 0;
  const Keyspace& keys = call.keys.all();
  keys.ForEach([&](const Entry& entry) {
    if (bytes > most_bytes || !GlobMatches(pattern, entry.key()) || keys.IsHidden(entry)) return;
    found.push_back(entry.key());
    bytes += entry.key().size() + std::string_view("$1\r\n\r\n").size();
  });
  call.reply.Array(found.size());
  if (bytes > most_bytes) return call.reply.Abandon();
  for (const std::string_view key : found) call.reply.Bulk(key);
}

struct KeyScanRequest : ScanRequest {
  std::optional<std::string_view> type;

  bool WantsEntry(const Entry& entry) const {
    if (type && !EqualsIgnoringCase(*type, entry.TypeName())) return false;
    return Wants(entry.key());
  }
};

KeyScanRequest TakeScanRequest(ArgReader& args) {
  KeyScanRequest request;
  request.cursor = TakeScanCursor(args);
  while (args.ok() && !args.AtEnd()) {
    if (TakeScanOption(args, request)) continue;
    if (!args.Take("type")) args.Refuse(kSyntaxError);
    request.type = args.Word();
  }
  return request;
}

struct ScannedKeys {
  std::vector<std::string_view> found;
  std::vector<std::string> due;  // past their deadline and not yet freed
};

ScannedKeys Advance(const Keyspace& keys, KeyScanRequest& request) {
  ScannedKeys scanned;
  Advance(request, [&](uint64_t cursor, uint64_t& seen) {
    return keys.ScanEvenDue(cursor, [&](const Entry& entry) {
      ++seen;
      if (!request.WantsEntry(entry) || keys.IsHidden(entry)) return;
      if (keys.IsDue(entry)) {
        scanned.due.emplace_back(entry.key());
      } else {
        scanned.found.push_back(entry.key());
      }
    });
  });
  return scanned;
}

void Scan(Call& call) {
  KeyScanRequest request = TakeScanRequest(call.args);
  if (call.Refused()) return;
  const ScannedKeys scanned = Advance(call.keys.all(), request);
  call.reply.Array(2);
  call.reply.Bulk(std::to_string(request.cursor));
  ReplyKeys(call, scanned.found);
  for (const std::string& key : scanned.due) call.keys.Open(key);  // this frees the key
}

constexpr Command kScanCommands[] = {
    {.name = "keys",
     .run = Keys,
     .arity = 2,
     .flags = kReadOnly | kDangerous,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "pattern",
     .summary = "Returns all keys matching a pattern.",
     .cost = "O(N) for N keys in the database",
     .tips = "request_policy:all_shards nondeterministic_output_order"},
    {.name = "scan",
     .run = Scan,
     .arity = -2,
     .flags = kReadOnly,
     .group = CommandGroup::kGeneric,
     .since = "2.8.0",
     .usage = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .summary = "Iterates over keys.",
     .cost = "O(1) for each key examined",
     .tips = "nondeterministic_output request_policy:special"},
};

}  // namespace

std::span<const Command> ScanCommands() { return kScanCommands; }

}  // namespace zsetd
