#include "protocol/request_parser.h"

#include <algorithm>
#include <utility>

#include "protocol/inline_words.h"
#include "protocol/number_text.h"

namespace zsetd {
namespace {

// CR LF. Like Redis we do not look at the LF, nor at either of those behind a bulk.
constexpr size_t kLineEndBytes = 2;

// Requests that are read ahead. Nothing is gained by more: the processor has some 16 loads from
// memory on their way at most.
constexpr size_t kMostAhead = 16;

constexpr int64_t kMostWordsOfStrangers = 10;
constexpr int64_t kMostBytesOfStrangers = 16384;  // in a word

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
  if (next_ == batch_.size()) ForgetBatch();
  GiveBackUnused(views_);
  GiveBackUnused(unquoted_);
  GiveBackUnused(places_);
  const std::span<char> space = buffer_.Space();
  PointIntoBuffer();
  return space;
}

std::span<const Words> RequestParser::Upcoming() {
  if (next_ == batch_.size() && HasMore()) ReadBatch();
  return std::span(batch_).subspan(next_);
}

RequestParser::Result RequestParser::Next() {
  if (Upcoming().empty()) return error_.empty() ? Result::kNeedMore : Result::kBroken;
  TakeUpTo(wholes_[next_++].end);
  return Result::kRequest;
}

size_t RequestParser::BytesUsed() const {
  return buffer_.capacity() + places_.capacity() * sizeof(Place) +
         views_.capacity() * sizeof(std::string_view) + unquoted_.capacity() * sizeof(std::string);
}

void RequestParser::ReadBatch() {
  ForgetBatch();
  while (error_.empty() && !IsBatchFull()) {
    const bool progressed = words_left_ > 0 ? ReadWords() : ReadOpening();
    if (!progressed) break;
    if (words_left_ == 0) FinishRequest();
  }
  if (wholes_.empty()) TakeUpTo(begun_);
  PointIntoBuffer();
}

bool RequestParser::IsBatchFull() const {
  if (wholes_.empty() || words_left_ > 0) return false;
  return limits_.stranger || wholes_.size() == kMostAhead || batch_words_ > kKeptWords ||
         !unquoted_.empty() || FromPosition().substr(0, 1) != "*";
}

void RequestParser::FinishRequest() {
  const size_t words = places_.size() + unquoted_.size() - batch_words_;
  if (words > 0) wholes_.push_back({words, position_});
  batch_words_ += words;
  begun_ = position_;
}

void RequestParser::ForgetBatch() {
  if (unquoted_.empty()) places_.erase(places_.begin(), places_.begin() + batch_words_);
  unquoted_.clear();
  wholes_.clear();
  views_.clear();
  batch_.clear();
  batch_words_ = next_ = 0;
}

void RequestParser::PointIntoBuffer() {
  const char* unread = buffer_.unread().data();
  views_.assign(unquoted_.begin(), unquoted_.end());
  for (const Place& place : std::span(places_).first(batch_words_ - views_.size())) {
    views_.emplace_back(unread + static_cast<ptrdiff_t>(place.start - taken_), place.size);
  }
  batch_.clear();
  size_t first = 0;
  for (const Whole& whole : wholes_) {
    batch_.push_back(Words(views_).subspan(first, whole.words));
    first += whole.words;
  }
}

void RequestParser::TakeUpTo(uint64_t end) {
  buffer_.Take(end - taken_);
  taken_ = end;
}

bool RequestParser::ReadOpening() {
  const std::string_view bytes = FromPosition();
  if (bytes.empty()) return false;
  return bytes.front() == '*' ? ReadCount() : ReadInline();
}

bool RequestParser::ReadCount() {
  const auto line = ReadLine('\r', "too big mbulk count string");
  if (!line) return false;
  int64_t count = 0;
  const bool valid = ReadInteger(line->substr(1), count) &&
                     (count < 0 || static_cast<size_t>(count) <= limits_.max_words);
  if (!valid) return Break("invalid multibulk length");
  if (limits_.stranger && count > kMostWordsOfStrangers) {
    return Break("unauthenticated multibulk length");
  }
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
    const size_t size = *bulk_size_ + kLineEndBytes;
    if (FromPosition().size() < size) return false;
    places_.push_back({position_, *bulk_size_});
    position_ += size;
    bulk_size_.reset();
  }
  return true;
}

bool RequestParser::ReadBulkSize() {
  const char* line_start = FromPosition().data();
  const auto line = ReadLine('\r', "too big bulk count string");
  if (!line) return false;
  if (!line->starts_with('$')) {
    return Break(std::string("expected '$', got '") + *line_start + "'");
  }
  int64_t size = 0;
  const bool valid = ReadInteger(line->substr(1), size) && size >= 0 &&
                     static_cast<size_t>(size) <= limits_.max_bulk_bytes;
  if (!valid) return Break("invalid bulk length");
  if (limits_.stranger && size > kMostBytesOfStrangers) {
    return Break("unauthenticated bulk length");
  }
  bulk_size_ = size;
  return true;
}

std::optional<std::string_view> RequestParser::ReadLine(char end, std::string_view too_long) {
  const std::string_view bytes = FromPosition();
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

}  // namespace zsetd
