#include "protocol/resp/request_writer.h"

#include "protocol/resp/length_line.h"
#include "protocol/text/short_copy.h"

namespace zsetd {
namespace {

char* WriteWord(char* at, std::string_view word) {
  return EndLine(CopyBytes(WriteLengthLine(at, '$', static_cast<int64_t>(word.size())), word));
}

void AppendLengthLine(OutputBuffer& out, char kind, size_t length) {
  out.EndAt(WriteLengthLine(out.Extend(kLengthLineBytes), kind, static_cast<int64_t>(length)));
}

void AppendWord(OutputBuffer& out, std::string_view word) {
  out.EndAt(WriteWord(out.Extend(kLengthLineBytes + word.size() + 2), word));
}

// An upper bound for the bytes of the request.
size_t MostBytes(std::string_view name, Args rest) {
  size_t bytes = (rest.size() + 2) * (kLengthLineBytes + 2) + name.size();
  for (const std::string_view word : rest) bytes += word.size();
  return bytes;
}

}  // namespace

// A long request is written word by word, so that it needs no contiguous piece of memory.
void AppendRequest(OutputBuffer& out, std::string_view name, Args rest) {
  constexpr size_t kShortRequest = 4096;
  const size_t most = MostBytes(name, rest);
  if (most > kShortRequest) {
    AppendLengthLine(out, '*', rest.size() + 1);
    AppendWord(out, name);
    for (const std::string_view word : rest) AppendWord(out, word);
    return;
  }
  char* at = WriteLengthLine(out.Extend(most), '*', static_cast<int64_t>(rest.size() + 1));
  at = WriteWord(at, name);
  for (const std::string_view word : rest) at = WriteWord(at, word);
  out.EndAt(at);
}

std::string EncodeRequest(Args words) {
  OutputBuffer out;
  AppendRequest(out, words);
  return std::string(out.view());
}

void RequestWriter::Begin(size_t words) {
  assert(IsWhole() && words > 0);
  words_left_ = words;
  AppendLengthLine(out_, '*', words);
}

void RequestWriter::Add(std::string_view word) {
  assert(words_left_ > 0);
  --words_left_;
  AppendWord(out_, word);
}

void RequestWriter::StartWord(size_t bytes) {
  assert(words_left_ > 0);
  --words_left_;
  AppendLengthLine(out_, '$', bytes);
}

}  // namespace zsetd
