#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/stream/stream.h"
#include "server/commands/stream/entry_deletion.h"
#include "server/engine/call.h"

namespace zsetd {

// The trimming options of XADD and XTRIM:
// [KEEPREF|DELREF|ACKED] <MAXLEN|MINID> [=|~] threshold [LIMIT count]
struct TrimRequest {
  std::optional<StreamTrim> trim;
  std::optional<int64_t> most;  // LIMIT
  std::optional<References> references;

  bool Forbids() const { return references == References::kForbid; }
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

// Trims the stream as the options require. `deletion` has their references, and receives the
// entries that ACKED deletes: it deletes each old entry that no group refers to, and skips the
// others. Returns the number of removed entries.
size_t Trim(Stream& stream, const TrimRequest& request, EntryDeletion& deletion);

}  // namespace zsetd
