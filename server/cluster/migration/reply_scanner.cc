#include "server/cluster/migration/reply_scanner.h"

#include <algorithm>
#include <optional>

#include "protocol/text/number_text.h"

namespace zsetd {

ReplyScanner::Result ReplyScanner::Next(std::string_view& bytes) {
  while (!bytes.empty()) {
    if (!is_inside_) {
      is_inside_ = true;
      error_.clear();
      parts_left_ = 1;
    }
    if (bulk_left_ > 0) {
      const size_t count = std::min<uint64_t>(bulk_left_, bytes.size());
      bytes.remove_prefix(count);
      bulk_left_ -= count;
    } else {
      const size_t end = bytes.find('\n');
      const size_t count = std::min(end, bytes.size() - 1) + 1;
      if (line_.size() + count > kMostLineBytes) return Result::kBroken;
      line_.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      if (end == std::string_view::npos) return Result::kNeedMore;
      if (!TakeLine()) return Result::kBroken;
      line_.clear();
    }
    if (bulk_left_ > 0 || parts_left_ > 0) continue;
    is_inside_ = false;
    return Result::kReply;
  }
  return Result::kNeedMore;
}

// Takes a part of the reply, or the announcement of several.
bool ReplyScanner::TakeLine() {
  if (!line_.ends_with("\r\n") || line_.size() < 3) return false;
  const std::string_view text = std::string_view(line_).substr(1, line_.size() - 3);
  --parts_left_;
  switch (line_[0]) {
    case '+':
    case ':':
      return true;
    case '-':
      if (error_.empty()) error_ = text.empty() ? "ERR" : text;
      return true;
    case '$':
    case '*':
      break;
    default:
      return false;
  }
  const std::optional<int64_t> length = ParseInteger(text);
  if (!length || *length < -1) return false;
  const uint64_t count = static_cast<uint64_t>(std::max<int64_t>(*length, 0));
  if (line_[0] == '*') {
    parts_left_ += count;
    return parts_left_ <= kMostParts;
  }
  constexpr uint64_t kLineEnd = 2;
  bulk_left_ = *length < 0 ? 0 : count + kLineEnd;
  return count <= kMostBulkBytes;
}

}  // namespace zsetd
