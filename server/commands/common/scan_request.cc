#include "server/commands/common/scan_request.h"

#include <charconv>
#include <string>

#include "core/util/glob.h"

namespace zsetd {
namespace {

uint64_t TakeCount(ArgReader& args) {
  const int64_t count = args.Integer();
  if (count < 1) args.Refuse(kSyntaxError);
  return static_cast<uint64_t>(count);
}

}  // namespace

bool ScanRequest::Wants(std::string_view name) const {
  return !pattern || GlobMatches(*pattern, name);
}

uint64_t TakeScanCursor(ArgReader& args) {
  const std::string_view word = args.Word();
  uint64_t cursor = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), cursor);
  if (error != std::errc() || end != word.data() + word.size()) args.Refuse("ERR invalid cursor");
  return cursor;
}

bool TakeScanOption(ArgReader& args, ScanRequest& request) {
  if (args.Take("match")) {
    request.pattern = args.Word();
  } else if (args.Take("count")) {
    request.count = TakeCount(args);
  } else {
    return false;
  }
  return true;
}

void TakeScanOptions(ArgReader& args, ScanRequest& request, std::string_view without_values) {
  while (args.ok() && !args.AtEnd()) {
    if (TakeScanOption(args, request)) continue;
    if (without_values.empty() || !args.Take(without_values)) args.Refuse(kSyntaxError);
    request.with_values = false;
  }
}

void ReplyScan(ReplyWriter& reply, const ScanRequest& request, size_t count) {
  reply.Array(2);
  reply.Bulk(std::to_string(request.cursor));
  reply.Array(count);
}

}  // namespace zsetd
