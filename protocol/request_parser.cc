#include "protocol/request_parser.h"

#include <algorithm>
#include <utility>

#include "protocol/inline_words.h"
#include "protocol/number_text.h"

namespace zsetd {
namespace {

// CR LF. Like Redis we do not look at the LF, nor at either of those behind a bulk.
constexpr size_t kLineEndBytes = 2;

constexpr size_t kKeptWords = 1024;  // room for so many is never worth giving back

// Where `byte` first stands in `text` at or after `from`; its size if nowhere. Most lines are a few
// digits long: a plain loop has passed them before memchr has started.
size_t FindByte(std::string_view text, char byte, size_t from) {
  const size_t near_end = std::min(text.size(), from + 8);
  for (; from < near_end; ++from) {
    if (text[from] == byte) return from;
  }
  return std::min(text.find(byte, from), text.size());
}

// ParseInteger, with a shorter way for short lengths. No optional, which would be built in memory
// and read back: a ZADD of four words takes 53 ns to parse instead of 90.
bool ParseLength(std::string_view text, int64_t& length) {
  if (text.empty() || text.size() > 8 || text[0] < '1') {
    const auto parsed = ParseInteger(text);
    length = parsed.value_or(0);
    return parsed.has_value();
  }
  length = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    length = 10 * length + (c - '0');
  }
  return true;
}

template <typename T>
void GiveBackUnused(std::vector<T>& items) {
  if (items.capacity() > kKeptWords && items.capacity() >= 4 * items.size()) items.shrink_to_fit();
}

}  // namespace

std::span<char> RequestParser::Space() {
  ForgetRequest();
  GiveBackUnused(words_);
  GiveBackUnused(unquoted_);
  GiveBackUnused(places_);
  return buffer_.Space();
}

RequestParser::Result RequestParser::Next() {
  ForgetRequest();
  while (error_.empty()) {
    const bool progressed = words_left_ > 0 ? ReadWords() : ReadOpening();
    if (!progressed) break;
    if (words_left_ == 0) FinishRequest();
    if (!words_.empty()) return Result::kRequest;
  }
  return error_.empty() ? Result::kNeedMore : Result::kBroken;
}

size_t RequestParser::BytesUsed() const {
  return buffer_.capacity() + places_.capacity() * sizeof(Place) +
         words_.capacity() * sizeof(std::string_view) + unquoted_.capacity() * sizeof(std::string);
}

bool RequestParser::ReadOpening() {
  if (buffer_.unread().empty()) return false;
  return buffer_.unread().front() == '*' ? ReadCount() : ReadInline();
}

bool RequestParser::ReadCount() {
  const auto line = ReadLine('\r', "too big mbulk count string");
  if (!line) return false;
  int64_t count = 0;
  const bool valid = ParseLength(line->substr(1), count) &&
                     (count < 0 || static_cast<size_t>(count) <= limits_.max_words);
  if (!valid) return Break("invalid multibulk length");
  words_left_ = std::max<int64_t>(count, 0);
  return true;
}

bool RequestParser::ReadInline() {
  auto line = ReadLine('\n', "too big inline request");
  if (!line) return false;
  if (line->ends_with('\r')) line->remove_suffix(1);
  auto words = SplitWords(*line);
  if (!words) return Break("unbalanced quotes in request");
  unquoted_ = *std::move(words);
  return true;
}

bool RequestParser::ReadWords() {
  for (; words_left_ > 0; --words_left_) {
    if (!bulk_size_ && !ReadBulkSize()) return false;
    const size_t end = position_ + *bulk_size_ + kLineEndBytes;
    if (buffer_.unread().size() < end) return false;
    places_.push_back({position_, *bulk_size_});
    position_ = end;
    bulk_size_.reset();
  }
  return true;
}

bool RequestParser::ReadBulkSize() {
  const size_t line_start = position_;
  const auto line = ReadLine('\r', "too big bulk count string");
  if (!line) return false;
  if (!line->starts_with('$')) {
    return Break(std::string("expected '$', got '") + buffer_.unread()[line_start] + "'");
  }
  int64_t size = 0;
  const bool valid = ParseLength(line->substr(1), size) && size >= 0 &&
                     static_cast<size_t>(size) <= limits_.max_bulk_bytes;
  if (!valid) return Break("invalid bulk length");
  bulk_size_ = size;
  return true;
}

std::optional<std::string_view> RequestParser::ReadLine(char end, std::string_view too_long) {
  const std::string_view bytes = buffer_.unread().substr(position_);
  const size_t size = FindByte(bytes.substr(0, limits_.max_line_bytes + 1), end, searched_);
  if (size > limits_.max_line_bytes) {
    Break(too_long);
    return std::nullopt;
  }
  const size_t with_end = size + (end == '\r' ? kLineEndBytes : 1);
  const bool whole = with_end <= bytes.size();
  searched_ = whole ? 0 : size;
  if (!whole) return std::nullopt;
  position_ += with_end;
  return bytes.substr(0, size);
}

bool RequestParser::Break(std::string_view reason) {
  error_ = "ERR Protocol error: ";
  error_ += reason;
  return false;
}

void RequestParser::FinishRequest() {
  const char* request = buffer_.unread().data();
  for (const Place& place : places_) words_.emplace_back(request + place.start, place.size);
  words_.insert(words_.end(), unquoted_.begin(), unquoted_.end());
  places_.clear();
  buffer_.Take(std::exchange(position_, 0));
}

void RequestParser::ForgetRequest() {
  words_.clear();
  unquoted_.clear();
}

}  // namespace zsetd
