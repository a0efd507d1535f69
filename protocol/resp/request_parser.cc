#include "protocol/resp/request_parser.h"

#include <algorithm>
#include <utility>

#include "protocol/resp/inline_words.h"
#include "protocol/resp/length_line.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

// CR LF. As in Redis the LF is not checked, nor is the CR LF after a bulk string.
constexpr size_t kLineEndBytes = 2;

// The maximum number of requests that are read ahead. More would gain nothing, because a processor
// has about 16 pending loads at most.
constexpr size_t kMostAhead = 16;

constexpr int64_t kMostWordsUnauthenticated = 10;
constexpr int64_t kMostBytesUnauthenticated = 16384;  // in an argument
static_assert(kMostUsualLength <= kMostBytesUnauthenticated,
              "ReadUsualWords does not ask who it is");

constexpr size_t kKeptWords = 1024;  // room for this many words is never freed

// The position of `byte` in `text` at or after `from`; the size if it does not occur. Most lines
// have a few digits, for which a plain loop is faster than a call of memchr.
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
  return buffer_.Space(NeededBytes(),
                       [this](const char* from, const char* to) { PointTo(from, to); });
}

void RequestParser::Shrink() {
  if (next_ == batch_.size()) ForgetBatch();
  buffer_.Shrink([this](const char* from, const char* to) { PointTo(from, to); });
  if (!batch_.empty()) return;  // requests that were read ahead refer to the words
  words_.shrink_to_fit();
  unquoted_.shrink_to_fit();
  wholes_.shrink_to_fit();
  batch_.shrink_to_fit();
}

// Other arguments may follow one that is not the last. If little of it is missing, room for no more
// would be moved again for each of them.
size_t RequestParser::NeededBytes() const {
  if (!bulk_size_) return 0;
  const size_t end = position_ - taken_ + *bulk_size_ + kLineEndBytes;
  const bool is_last = words_left_ == 1;
  return is_last ? end : std::max(end, buffered_bytes() + buffered_bytes() / 4);
}

// Next() reads the line that broke the protocol again, because `position_` is before it.
std::span<const Args> RequestParser::Upcoming() {
  if (next_ == batch_.size() && HasMore()) {
    ReadBatch();
    error_.clear();
  }
  return std::span(batch_).subspan(next_);
}

RequestParser::Result RequestParser::Next() {
  if (next_ == batch_.size() && HasMore()) ReadBatch();
  if (next_ == batch_.size()) return error_.empty() ? Result::kNeedMore : Result::kBroken;
  TakeUpTo(wholes_[next_++].end);
  return Result::kRequest;
}

size_t RequestParser::BytesUsed() const {
  return buffer_.capacity() + words_.capacity() * sizeof(std::string_view) +
         unquoted_.capacity() * sizeof(std::string) + unquoted_bytes_ +
         wholes_.capacity() * sizeof(Whole) + batch_.capacity() * sizeof(Args);
}

void RequestParser::ReadBatch() {
  ForgetBatch();
  while (error_.empty() && !IsBatchFull()) {
    const bool progressed = words_left_ > 0 ? ReadWords() : ReadOpening();
    if (!progressed) break;
    if (words_left_ == 0) FinishRequest();
  }
  if (wholes_.empty()) TakeUpTo(begun_);
  for (size_t i = 0; i < wholes_.size(); ++i) {
    batch_.push_back(Args(words_).first(wholes_[i].words_end).subspan(WordsBefore(i)));
  }
}

bool RequestParser::IsBatchFull() const {
  if (wholes_.empty() || words_left_ > 0) return false;
  return limits_.unauthenticated || wholes_.size() == kMostAhead || words_.size() > kKeptWords ||
         !unquoted_.empty() || !FromPosition().starts_with('*');
}

void RequestParser::FinishRequest() {
  const bool is_empty = words_.size() == WordsBefore(wholes_.size());
  if (!is_empty) wholes_.push_back({words_.size(), position_});
  begun_ = position_;
}

void RequestParser::ForgetBatch() {
  words_.erase(words_.begin(), words_.begin() + WordsBefore(wholes_.size()));
  unquoted_.clear();
  unquoted_bytes_ = 0;
  wholes_.clear();
  batch_.clear();
  next_ = 0;
  GiveBackUnused(words_);
  GiveBackUnused(unquoted_);
}

// The words of requests that Next() has returned are not adjusted.
void RequestParser::PointTo(const char* from, const char* to) {
  if (!unquoted_.empty()) return;
  for (std::string_view& word : std::span(words_).subspan(WordsBefore(next_))) {
    word = {to + (word.data() - from), word.size()};
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

// ReadCount() handles unauthenticated clients, which have lower limits.
bool RequestParser::ReadUsualCount() {
  int64_t count = 0;
  const size_t line = ReadLengthLine(FromPosition(), '*', count);
  if (line == 0 || limits_.unauthenticated || static_cast<size_t>(count) > limits_.max_words)
    return false;
  position_ += line;
  searched_ = 0;
  words_left_ = count;
  return true;
}

bool RequestParser::ReadCount() {
  if (ReadUsualCount()) return true;
  const uint64_t line_start = position_;
  const auto line = ReadLine('\r', "too big mbulk count string");
  if (!line) return false;
  int64_t count = 0;
  const bool valid = ReadInteger(line->substr(1), count) &&
                     (count < 0 || static_cast<size_t>(count) <= limits_.max_words);
  if (!valid) return Break(line_start, "invalid multibulk length");
  if (limits_.unauthenticated && count > kMostWordsUnauthenticated) {
    return Break(line_start, "unauthenticated multibulk length");
  }
  words_left_ = std::max<int64_t>(count, 0);
  return true;
}

bool RequestParser::ReadInline() {
  const uint64_t line_start = position_;
  auto line = ReadLine('\n', "too big inline request");
  if (!line) return false;
  if (line->ends_with('\r')) line->remove_suffix(1);
  const bool is_annotation = limits_.annotations && line->starts_with('#');
  auto words = is_annotation ? std::vector{std::string(*line)} : SplitWords(*line);
  if (!words) return Break(line_start, "unbalanced quotes in request");
  unquoted_ = *std::move(words);
  for (const std::string& word : unquoted_) unquoted_bytes_ += word.capacity();
  words_.assign(unquoted_.begin(), unquoted_.end());
  return true;
}

// Reads words while they have the usual form. The state stays in registers.
void RequestParser::ReadUsualWords() {
  const std::string_view bytes = FromPosition();
  std::string_view rest = bytes;
  uint64_t left = words_left_;
  for (; left > 0; --left) {
    int64_t size = 0;
    const size_t line = ReadLengthLine(rest, '$', size);
    const size_t whole = line + size + kLineEndBytes;
    if (line == 0 || static_cast<size_t>(size) > limits_.max_bulk_bytes || rest.size() < whole)
      break;
    words_.emplace_back(rest.data() + line, size);
    rest.remove_prefix(whole);
  }
  if (left == words_left_) return;
  position_ += bytes.size() - rest.size();
  searched_ = 0;
  words_left_ = left;
}

bool RequestParser::ReadWords() {
  while (words_left_ > 0) {
    if (!bulk_size_) ReadUsualWords();
    if (words_left_ > 0 && !ReadWord()) return false;
  }
  return true;
}

bool RequestParser::ReadWord() {
  if (!bulk_size_ && !ReadBulkSize()) return false;
  const std::string_view bytes = FromPosition();
  const size_t size = *bulk_size_ + kLineEndBytes;
  if (bytes.size() < size) return false;
  words_.emplace_back(bytes.data(), *bulk_size_);
  position_ += size;
  bulk_size_.reset();
  --words_left_;
  return true;
}

bool RequestParser::ReadBulkSize() {
  const uint64_t line_start = position_;
  const char* const first = FromPosition().data();
  const auto line = ReadLine('\r', "too big bulk count string");
  if (!line) return false;
  if (!line->starts_with('$')) {
    return Break(line_start, std::string("expected '$', got '") + *first + "'");
  }
  int64_t size = 0;
  const bool valid = ReadInteger(line->substr(1), size) && size >= 0 &&
                     static_cast<size_t>(size) <= limits_.max_bulk_bytes;
  if (!valid) return Break(line_start, "invalid bulk length");
  if (limits_.unauthenticated && size > kMostBytesUnauthenticated) {
    return Break(line_start, "unauthenticated bulk length");
  }
  bulk_size_ = size;
  return true;
}

std::optional<std::string_view> RequestParser::ReadLine(char end, std::string_view too_long) {
  const std::string_view bytes = FromPosition();
  const size_t size = FindByte(bytes.substr(0, limits_.max_line_bytes + 1), end, searched_);
  if (size > limits_.max_line_bytes) {
    Break(position_, too_long);
    return std::nullopt;
  }
  const size_t with_end = size + (end == '\r' ? kLineEndBytes : 1);
  const bool whole = with_end <= bytes.size();
  searched_ = whole ? 0 : size;
  if (!whole) return std::nullopt;
  position_ += with_end;
  return bytes.substr(0, size);
}

bool RequestParser::Break(uint64_t line_start, std::string_view reason) {
  position_ = line_start;
  error_ = "ERR Protocol error: ";
  error_ += reason;
  return false;
}

}  // namespace zsetd
