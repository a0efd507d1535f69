#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/glob.h"
#include "server/commands/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

void ReplyKeys(Call& call, const std::vector<std::string_view>& keys) {
  call.reply.Array(keys.size());
  for (const std::string_view key : keys) call.reply.Bulk(key);
}

void Keys(Call& call) {
  const std::string_view pattern = call.args.Word();
  std::vector<std::string_view> found;
  call.database().keys().ForEach([&](const Entry& entry) {
    if (GlobMatches(pattern, entry.key())) found.push_back(entry.key());
  });
  ReplyKeys(call, found);
}

// Which keys SCAN names, and about how many of them it looks at.
struct ScanRequest {
  uint64_t cursor = 0;
  uint64_t count = 10;
  std::optional<std::string_view> pattern;
  std::optional<std::string_view> type;

  bool Wants(const Entry& entry) const {
    if (type && !EqualsIgnoringCase(*type, entry.TypeName())) return false;
    return !pattern || GlobMatches(*pattern, entry.key());
  }
};

uint64_t TakeCursor(ArgReader& args) {
  const std::string_view word = args.Word();
  uint64_t cursor = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), cursor);
  if (error != std::errc() || end != word.data() + word.size()) args.Refuse("ERR invalid cursor");
  return cursor;
}

uint64_t TakeCount(ArgReader& args) {
  const int64_t count = args.Integer();
  if (count < 1) args.Refuse(kSyntaxError);
  return static_cast<uint64_t>(count);
}

ScanRequest TakeScanRequest(ArgReader& args) {
  ScanRequest request = {.cursor = TakeCursor(args)};
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("match")) {
      request.pattern = args.Word();
    } else if (args.Take("count")) {
      request.count = TakeCount(args);
    } else if (args.Take("type")) {
      request.type = args.Word();
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  return request;
}

// Goes from bucket to bucket until enough keys have been looked at, wanted or not, and moves the
// cursor. Where hardly any bucket holds a key, the number of buckets is the limit.
std::vector<std::string_view> Advance(const Keyspace& keys, ScanRequest& request) {
  constexpr uint64_t kBucketsPerKey = 10;
  std::vector<std::string_view> found;
  uint64_t seen = 0;
  uint64_t buckets = 0;
  do {
    request.cursor = keys.Scan(request.cursor, [&](const Entry& entry) {
      ++seen;
      if (request.Wants(entry)) found.push_back(entry.key());
    });
    ++buckets;
  } while (request.cursor != 0 && seen < request.count && buckets / kBucketsPerKey < request.count);
  return found;
}

void Scan(Call& call) {
  ScanRequest request = TakeScanRequest(call.args);
  if (call.Refused()) return;
  const std::vector<std::string_view> found = Advance(call.database().keys(), request);
  call.reply.Array(2);
  call.reply.Bulk(std::to_string(request.cursor));
  ReplyKeys(call, found);
}

constexpr Command kCommands[] = {
    {.name = "keys",
     .run = Keys,
     .arity = 2,
     .flags = kReadOnly | kDangerous,
     .group = CommandGroup::kGeneric,
     .since = "1.0.0",
     .usage = "pattern",
     .summary = "Names all keys that match a pattern.",
     .cost = "O(N) for N keys in the database"},
    {.name = "scan",
     .run = Scan,
     .arity = -2,
     .flags = kReadOnly,
     .group = CommandGroup::kGeneric,
     .since = "2.8.0",
     .usage = "cursor [MATCH pattern] [COUNT count] [TYPE type]",
     .summary = "Names keys a few at a time.",
     .cost = "O(1) for each key looked at"},
};

}  // namespace

std::span<const Command> ScanCommands() { return kCommands; }

}  // namespace zsetd
