#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// The arguments of every SCAN command: the cursor, the approximate number of elements to examine,
// and a filter.
struct ScanRequest {
  uint64_t cursor = 0;
  uint64_t count = 10;
  std::optional<std::string_view> pattern;
  bool with_values = true;  // of fields; or scores of members

  bool Wants(std::string_view name) const;
};

uint64_t TakeScanCursor(ArgReader& args);

// Takes MATCH or COUNT with its value, if it is next.
bool TakeScanOption(ArgReader& args, ScanRequest& request);

// Takes the remaining options. `without_values` is an additional option of the command, or empty.
void TakeScanOptions(ArgReader& args, ScanRequest& request, std::string_view without_values);

// Takes the arguments of HSCAN, SSCAN and ZSCAN. Returns the value to scan. If the key does not
// exist, returns null and sets the cursor to the end. As in Redis, the options are parsed only if
// the key exists.
template <class Value>
const Value* TakeScanOf(Call& call, ScanRequest& request, std::string_view without_values = {}) {
  const std::string_view key = call.args.Word();
  request.cursor = TakeScanCursor(call.args);
  const Value* value = call.Find<Value>(key);
  if (value == nullptr) {
    request.cursor = 0;
  } else {
    TakeScanOptions(call.args, request, without_values);
  }
  return value;
}

// Starts the reply: the cursor, and the header of an array of `count` strings. The caller writes
// the strings.
void ReplyScan(ReplyWriter& reply, const ScanRequest& request, size_t count);

// Iterates over buckets until enough elements have been examined, and advances the cursor. `look`
// receives a cursor, adds the number of its elements to the count, and returns the next cursor. If
// most buckets are empty, the number of buckets is the limit.
template <class Look>
void Advance(ScanRequest& request, Look look) {
  constexpr uint64_t kBucketsPerThing = 10;
  uint64_t seen = 0;
  uint64_t buckets = 0;
  do {
    request.cursor = look(request.cursor, seen);
    ++buckets;
  } while (request.cursor != 0 && seen < request.count &&
           buckets / kBucketsPerThing < request.count);
}

}  // namespace zsetd
