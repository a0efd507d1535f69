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
  const auto count = ParseInteger(line->substr(1));
  const bool valid = count && (*count < 0 || static_cast<size_t>(*count) <= limits_.max_words);
  if (!valid) return Break("invalid multibulk length");
  words_left_ = std::max<int64_t>(*count, 0);
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
    position_ = searched_ = end;
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
  const auto size = ParseInteger(line->substr(1));
  const bool valid = size && *size >= 0 && static_cast<size_t>(*size) <= limits_.max_bulk_bytes;
  if (!valid) return Break("invalid bulk length");
  bulk_size_ = *size;
  return true;
}

std::optional<std::string_view> RequestParser::ReadLine(char end, std::string_view too_long) {
  const std::string_view bytes = buffer_.unread();
  const std::string_view window = bytes.substr(0, position_ + limits_.max_line_bytes + 1);
  searched_ = FindByte(window, end, searched_);
  const size_t size = searched_ - position_;
  if (size > limits_.max_line_bytes) {
    Break(too_long);
    return std::nullopt;
  }
  const size_t next = searched_ + (end == '\r' ? kLineEndBytes : 1);
  if (next > bytes.size()) return std::nullopt;
  const std::string_view line = bytes.substr(position_, size);
  position_ = searched_ = next;
  return line;
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
  searched_ = 0;
}

void RequestParser::ForgetRequest() {
  words_.clear();
  unquoted_.clear();
}

}  // namespace zsetd
