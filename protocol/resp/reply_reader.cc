#include "protocol/resp/reply_reader.h"

#include <cstdint>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

// Larger counts count as malformed, so that sums cannot overflow.
constexpr int64_t kMaxCount = int64_t{1} << 32;

// The count after the first byte of a line; nullopt for a null or an invalid number.
std::optional<uint64_t> CountOf(std::string_view line) {
  if (line.empty()) return std::nullopt;
  const auto count = ParseInteger(line.substr(1));
  if (!count || *count < 0 || *count > kMaxCount) return std::nullopt;
  return *count;
}

// Walks over a reply from part to part. Its nesting is reduced to the number of remaining parts.
class ReplyWalk {
 public:
  explicit ReplyWalk(std::string_view bytes) : bytes_(bytes) {}

  std::optional<size_t> Length() {
    for (; parts_left_ > 0; --parts_left_) {
      if (!PassPart()) return std::nullopt;
    }
    return position_;
  }

 private:
  // Passes a line and the bytes that it announces. Returns false if they have not arrived.
  bool PassPart();

  const std::string_view bytes_;
  size_t position_ = 0;
  uint64_t parts_left_ = 1;
};

bool ReplyWalk::PassPart() {
  const size_t line_end = bytes_.find("\r\n", position_);
  if (line_end == std::string_view::npos) return false;
  const std::string_view line = bytes_.substr(position_, line_end - position_);
  position_ = line_end + 2;
  const auto count = CountOf(line);
  if (!count) return true;
  switch (line.front()) {
    case '$':
    case '!':
    case '=':
      position_ += *count + 2;
      break;
    case '*':
    case '~':
    case '>':
      parts_left_ += *count;
      break;
    case '%':
      parts_left_ += *count * 2;
      break;
    case '|':
      parts_left_ += *count * 2 + 1;
      break;  // an attribute precedes a value and is not a part by itself
  }
  return position_ <= bytes_.size();
}

}  // namespace

std::optional<size_t> ReplyLength(std::string_view bytes) { return ReplyWalk(bytes).Length(); }

}  // namespace zsetd
