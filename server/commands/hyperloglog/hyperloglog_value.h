#pragma once

#include <optional>
#include <string_view>

#include "core/hyperloglog/hyperloglog.h"
#include "server/engine/call.h"

namespace zsetd {

// The error for registers that cannot be read.
inline constexpr std::string_view kDamagedHyperLogLog = "INVALIDOBJ Corrupted HLL object detected";

// The HyperLogLog at `key`, or nullopt; WRONGTYPE if the value is another string, or has another
// type. Valid until the key changes. Counts a hit or a miss.
std::optional<HyperLogLog> FindHyperLogLog(Call& call, std::string_view key);

// Like FindHyperLogLog(), to be changed. Counts nothing.
Edit<ByteString> OpenHyperLogLog(Call& call, std::string_view key, KeyEvent event);

}  // namespace zsetd
