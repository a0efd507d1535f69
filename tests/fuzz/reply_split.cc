#include "tests/fuzz/reply_split.h"

#include <cstdint>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// Walks from part to part. For nested replies it counts only the parts to come.
class StrictWalk {
 public:
  explicit StrictWalk(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return position_ == bytes_.size(); }

  std::optional<std::string_view> Reply() {
    const size_t start = position_;
    for (parts_left_ = 1; parts_left_ > 0; --parts_left_) {
      if (!PassPart()) return std::nullopt;
    }
    return bytes_.substr(start, position_ - start);
  }

 private:
  bool PassPart() {
    const size_t end = bytes_.find(kLineEnd, position_);
    if (end == std::string_view::npos || end == position_) return false;
    const char kind = bytes_[position_];
    const std::string_view rest = bytes_.substr(position_ + 1, end - position_ - 1);
    position_ = end + kLineEnd.size();
    if (rest.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return false;
    if (std::string_view("+-").find(kind) != std::string_view::npos) return true;
    if (kind == '_') return rest.empty();
    if (kind == '#') return rest == "t" || rest == "f";
    if (kind == ',') return rest == "nan" || ParseDouble(rest).has_value();
    if (kind == '(') return !rest.empty();
    const std::optional<int64_t> number = ParseInteger(rest);
    return number && (kind == ':' || PassCounted(kind, *number));
  }

  bool PassCounted(char kind, int64_t count) {
    const bool is_null = count == -1 && (kind == '$' || kind == '*');
    if (count < 0) return is_null;
    const auto size = static_cast<uint64_t>(count);
    if (kind == '$' || kind == '=' || kind == '!') return PassBulk(size);
    if (size > bytes_.size()) return false;
    if (std::string_view("*~>").find(kind) != std::string_view::npos) parts_left_ += size;
    if (kind == '%') parts_left_ += 2 * size;
    if (kind == '|') parts_left_ += 2 * size + 1;  // precedes the value that it describes
    return std::string_view("*~>%|").find(kind) != std::string_view::npos;
  }

  bool PassBulk(uint64_t size) {
    if (size > bytes_.size() - position_) return false;
    position_ += size;
    const bool ended = bytes_.substr(position_).starts_with(kLineEnd);
    position_ += kLineEnd.size();
    return ended;
  }

  const std::string_view bytes_;
  size_t position_ = 0;
  uint64_t parts_left_ = 0;
};

}  // namespace

std::optional<std::vector<std::string_view>> SplitReplies(std::string_view bytes) {
  std::vector<std::string_view> replies;
  StrictWalk walk(bytes);
  while (!walk.AtEnd()) {
    const auto reply = walk.Reply();
    if (!reply) return std::nullopt;
    replies.push_back(*reply);
  }
  return replies;
}

}  // namespace zsetd
