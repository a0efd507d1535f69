// LCS.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/string/common_subsequence.h"
#include "server/commands/string/families.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

struct LcsRequest {
  bool only_size = false;        // LEN
  bool tells_runs = false;       // IDX
  bool tells_run_sizes = false;  // WITHMATCHLEN
  int64_t least_run = 0;         // MINMATCHLEN
};

LcsRequest TakeLcsRequest(ArgReader& args) {
  LcsRequest request;
  while (args.ok() && !args.AtEnd()) {
    if (args.Take("len")) {
      request.only_size = true;
    } else if (args.Take("idx")) {
      request.tells_runs = true;
    } else if (args.Take("withmatchlen")) {
      request.tells_run_sizes = true;
    } else if (args.left() > 1 && args.Take("minmatchlen")) {
      request.least_run = std::max<int64_t>(args.Integer(), 0);
    } else {
      args.Refuse(kSyntaxError);
    }
  }
  if (request.only_size && request.tells_runs) {
    args.Refuse("ERR If you want both the length and indexes, please just use IDX.");
  }
  return request;
}

// Returns the string at the key; empty if it does not exist.
std::string_view FindText(Call& call, std::string_view key) {
  const Entry* entry = call.keys.Find(key);
  if (entry == nullptr) return {};
  const std::optional<ByteString> string = entry->GetIf<ByteString>();
  if (!string) call.args.Refuse("ERR The specified keys must contain string values");
  return string.value_or(ByteString()).view();
}

// Refuses strings that would need too much memory, before any is allocated.
void CheckSizes(Call& call, std::string_view first, std::string_view second) {
  constexpr size_t kMostBytes = UINT32_MAX - 1;  // as in Redis
  if (std::max(first.size(), second.size()) >= kMostBytes) {
    call.args.Refuse("ERR String too long for LCS");
  }
  const auto most = call.keys.most_string_bytes();
  if (TableBytes(first.size(), second.size()) > most) {
    call.args.Refuse(
        "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
}

void ReplyStretch(ReplyWriter& reply, size_t start, size_t size) {
  reply.Array(2);
  reply.Integer(static_cast<int64_t>(start));
  reply.Integer(static_cast<int64_t>(start + size - 1));
}

void ReplyRuns(ReplyWriter& reply, const CommonSubsequence& common, const LcsRequest& request) {
  const auto is_told = [&](const CommonRun& run) {
    return run.size >= static_cast<size_t>(request.least_run);
  };
  reply.Map(2);
  reply.Bulk("matches");
  reply.Array(std::count_if(common.runs.begin(), common.runs.end(), is_told));
  for (const CommonRun& run : common.runs) {
    if (!is_told(run)) continue;
    reply.Array(request.tells_run_sizes ? 3 : 2);
    ReplyStretch(reply, run.first_start, run.size);
    ReplyStretch(reply, run.second_start, run.size);
    if (request.tells_run_sizes) reply.Integer(static_cast<int64_t>(run.size));
  }
  reply.Bulk("len");
  reply.Integer(static_cast<int64_t>(common.size));
}

void Lcs(Call& call) {
  const std::string_view first_key = call.args.Word();
  const std::string_view second_key = call.args.Word();
  const std::string_view first = FindText(call, first_key);
  const std::string_view second = FindText(call, second_key);
  const LcsRequest request = TakeLcsRequest(call.args);
  CheckSizes(call, first, second);
  if (call.Refused()) return;
  const CommonSubsequence common = LongestCommonSubsequence(first, second);
  if (request.tells_runs) return ReplyRuns(call.reply, common, request);
  if (request.only_size) return call.reply.Integer(static_cast<int64_t>(common.size));
  call.reply.Bulk(Text(common, first));
}

constexpr Command kLcsCommands[] = {
    {.name = "lcs",
     .run = Lcs,
     .arity = -3,
     .flags = kReadOnly,
     .keys = kTwoKeys,
     .group = CommandGroup::kString,
     .since = "7.0.0",
     .usage = "key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]",
     .summary = "Finds the longest common subsequence of two strings.",
     .cost = "O(N*M) for strings of N and of M bytes",
     .key_use = "RO access"},
};

}  // namespace

std::span<const Command> LcsCommands() { return kLcsCommands; }

}  // namespace zsetd
