#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/call.h"

namespace zsetd {

// The arguments of XREAD and XREADGROUP.
struct ReadRequest {
  std::optional<Millis> block;  // BLOCK; 0: without limit
  uint64_t count = 0;           // 0: all
  bool has_group = false;
  std::string_view group;
  std::string_view consumer;
  bool acknowledges = false;  // NOACK: the entries do not become pending
  std::optional<Millis>
      min_idle;  // CLAIM: pending entries that are idle for so long are read first
  Args keys;
  Args ids;  // of each key; parsed when the key is found, as in Redis
};

// The positions of the keys, which follow STREAMS. XREAD has no GROUP, but a request with one is
// refused anyway.
inline constexpr ValuedOption kReadOptions[] = {
    {"BLOCK", 1}, {"COUNT", 1}, {"GROUP", 2}, {"CLAIM", 1}};
inline constexpr KeyPlaces kReadKeys = {
    .options_from = 1, .other_options = kReadOptions, .rest_option = "STREAMS", .rest_divisor = 2};

ReadRequest TakeReadRequest(Call& call, bool in_group);

// The most entries of a stream that the request reads. Without COUNT, a client that has waited gets
// some and not all.
uint64_t MostEntries(const Call& call, const ReadRequest& request);

}  // namespace zsetd
