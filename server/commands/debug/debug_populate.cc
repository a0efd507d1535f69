#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/keyspace/value.h"
#include "server/commands/debug/debug.h"

namespace zsetd {
namespace {

constexpr int64_t kKeysPerReport = 100'000;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Returns the value, truncated or padded with zero bytes to `bytes` if given.
std::string ValueText(int64_t number, std::optional<size_t> bytes) {
  std::string value = "value:" + std::to_string(number);
  if (bytes) value.resize(*bytes);
  return value;
}

void ReportProgress(AdminCall& call, int64_t number, int64_t count) {
  call.engine.host().log->Write(LogLevel::kWarning, "DEBUG POPULATE: " + std::to_string(number) +
                                                        " of " + std::to_string(count) + " keys");
}

}  // namespace

// DEBUG POPULATE count [prefix] [bytes]: creates the keys prefix:0, prefix:1 ... that do not exist.
void DebugPopulate(AdminCall& call) {
  const int64_t count = call.args.IntegerIn(0, kMost, kMustBePositive);
  const std::string prefix(call.args.AtEnd() ? "key" : call.args.Word());
  std::optional<size_t> bytes;
  if (!call.args.AtEnd()) bytes = call.args.IntegerIn(0, kMost, kMustBePositive);
  if (bytes > call.keys.most_string_bytes()) {
    call.args.Refuse("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  }
  if (call.Refused()) return;
  for (int64_t number = 0; number < count; ++number) {
    if (number > 0 && number % kKeysPerReport == 0) ReportProgress(call, number, count);
    const std::string key = prefix + ":" + std::to_string(number);
    if (call.database().Find(key) != nullptr) continue;
    call.database().Put(key, ByteString(ValueText(number, bytes)), KeyEvent::kSet);
  }
  call.reply.Ok();
}

}  // namespace zsetd
