#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/command/arg_reader.h"

namespace zsetd {

// The arguments of every SCAN command: where to continue, about how many elements to examine, and
// which of them to return.
struct ScanRequest {
  uint64_t cursor = 0;
  uint64_t count = 10;
  std::optional<std::string_view> pattern;

  bool Wants(std::string_view name) const;
};

uint64_t TakeScanCursor(ArgReader& args);

// Takes MATCH or COUNT with its value, if that comes next.
bool TakeScanOption(ArgReader& args, ScanRequest& request);

// Iterates over buckets until enough elements have been examined, and advances the cursor. `look`
// gets a cursor, adds the number of elements at it to the count, and returns the next cursor. Where
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
