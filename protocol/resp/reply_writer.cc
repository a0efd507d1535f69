#include "protocol/resp/reply_writer.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "protocol/resp/length_line.h"
#include "protocol/text/number_text.h"
#include "protocol/text/short_copy.h"

namespace zsetd {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string_view NumberText(double value, std::array<char, kNumberBytes>& room) {
  return {room.data(), FormatDouble(value, room.data())};
}

}  // namespace

void ReplyWriter::Header(char kind, int64_t count) {
  if (IsFull()) return;
  out_.EndAt(WriteLengthLine(out_.Extend(kLengthLineBytes), kind, count));
}

char* ReplyWriter::Line(char kind, std::string_view text) {
  char* line = out_.Extend(1 + text.size() + kLineEnd.size());
  *line = kind;
  EndLine(CopyBytes(line + 1, text));
  return line + 1;
}

void ReplyWriter::Simple(std::string_view text) { Line('+', text); }

void ReplyWriter::Integer(int64_t value) { Header(':', value); }

// Unbounded replies have a bulk string, or else a double or a header, in each element, so it is
// enough to check the limit there.
void ReplyWriter::Bulk(std::string_view bytes) {
  Bulk(bytes.size(), [bytes](char* to) { CopyBytes(to, bytes); });
}

// Extends the output once for the header, the bytes and the line's end.
char* ReplyWriter::StartBulk(size_t bytes) {
  char* line = out_.Extend(kLengthLineBytes + bytes + kLineEnd.size());
  char* to = WriteLengthLine(line, '$', static_cast<int64_t>(bytes));
  out_.EndAt(to + bytes + kLineEnd.size());
  return to;
}

void ReplyWriter::Double(double value) {
  std::array<char, kNumberBytes> room;
  const std::string_view text = NumberText(value, room);
  if (protocol_ == Protocol::kResp2) return Bulk(text);
  if (!IsFull()) Line(',', text);
}

void ReplyWriter::Bool(bool value) {
  if (protocol_ == Protocol::kResp2) return Integer(value ? 1 : 0);
  out_.Append(value ? "#t\r\n" : "#f\r\n");
}

void ReplyWriter::BigNumber(std::string_view digits) {
  if (protocol_ == Protocol::kResp2) return Bulk(digits);
  Line('(', digits);
}

void ReplyWriter::BulkOrNull(const std::optional<std::string_view>& bytes) {
  if (bytes) {
    Bulk(*bytes);
  } else {
    Null();
  }
}

void ReplyWriter::Null() { out_.Append(protocol_ == Protocol::kResp2 ? "$-1\r\n" : "_\r\n"); }

void ReplyWriter::NullArray() { out_.Append(protocol_ == Protocol::kResp2 ? "*-1\r\n" : "_\r\n"); }

void ReplyWriter::Verbatim(std::string_view format, std::string_view text) {
  if (protocol_ == Protocol::kResp2) return Bulk(text);
  Header('=', format.size() + 1 + text.size());
  out_.Append(format);
  out_.Append(":");
  out_.Append(text);
  out_.Append(kLineEnd);
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
  char* text = Line('-', message);
  const auto breaks_line = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  std::replace_if(text, text + message.size(), breaks_line, ' ');
}

}  // namespace zsetd
