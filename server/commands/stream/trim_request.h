#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "server/engine/call.h"

namespace zsetd {

// The trimming options of XADD and XTRIM:
// <MAXLEN|MINID> [=|~] threshold [LIMIT count]
struct TrimRequest {
  std::optional<StreamTrim> trim;
  std::optional<int64_t> most;  // LIMIT
};

// Takes one of these options. Returns false, and takes nothing, if the next argument is another
// one, or lacks its value.
bool TakeTrimOption(ArgReader& args, TrimRequest& request);

// Checks that the options agree, and sets how many entries the trim may remove. Call it after the
// options.
void CheckTrim(Call& call, TrimRequest& request);

// The exact trim that leaves what an approximate one has left: "MAXLEN", "=" and the threshold.
struct ExactTrim {
  std::string_view option;
  std::string threshold;
};
ExactTrim ExactTrimOf(const StreamTrim& trim, const Stream& stream);

}  // namespace zsetd
