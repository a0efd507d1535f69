#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/engine/command/arg_reader.h"

namespace zsetd {

// What every command asks that names things a few at a time: where to go on, at about how many to
// look, and which of them to name.
struct ScanRequest {
  uint64_t cursor = 0;
  uint64_t count = 10;
  std::optional<std::string_view> pattern;

  bool Wants(std::string_view name) const;
};

uint64_t TakeScanCursor(ArgReader& args);

// Takes MATCH or COUNT with its value, if that comes next.
bool TakeScanOption(ArgReader& args, ScanRequest& request);

// Goes from bucket to bucket until enough has been looked at, wanted or not, and moves the cursor.
// `look` is given a cursor, adds to the count of what it saw there, and returns the next cursor.
// Where hardly any bucket holds a thing, the number of buckets is the limit.
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
