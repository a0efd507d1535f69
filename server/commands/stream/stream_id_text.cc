#include "server/commands/stream/stream_id_text.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "core/util/numeral.h"

namespace zsetd {
namespace {

constexpr size_t kMostIdBytes = 127;  // Redis's buffer
constexpr size_t kIdRoom = 48;
constexpr uint64_t kLongNumber = 1'000'000'000'000'000'000;  // with more digits than a numeral

char* WriteIdPart(uint64_t part, char* at) {
  if (part < 10) {
    *at = static_cast<char>('0' + part);
    return at + 1;
  }
  if (part < kLongNumber) [[likely]]
    return WriteNumeral(at, part, kShortest);
  constexpr size_t kMostDigits = 20;
  return std::to_chars(at, at + kMostDigits, part).ptr;
}

std::string_view WriteId(StreamId id, char (&text)[kIdRoom]) {
  char* end = WriteIdPart(id.ms, text);
  *end++ = '-';
  end = WriteIdPart(id.seq, end);
  return {text, static_cast<size_t>(end - text)};
}

// An ID at an end of a range; `is_excluded` is set if a "(" precedes it.
StreamId TakeBound(ArgReader& args, uint64_t missing_seq, bool& is_excluded) {
  const std::string_view word = args.Word();
  is_excluded = word.size() > 1 && word[0] == '(';
  const std::optional<StreamId> id = is_excluded ? ParseStreamId(word.substr(1), missing_seq)
                                                 : ParseStreamIdOrEnd(word, missing_seq);
  if (!id) args.Refuse(kInvalidStreamId);
  return id.value_or(StreamId());
}

}  // namespace

std::string StreamIdText(StreamId id) {
  char text[kIdRoom];
  return std::string(WriteId(id, text));
}

// Most sequence numbers have one digit, so most IDs are written where the reply has them.
void ReplyStreamId(ReplyWriter& reply, StreamId id) {
  if (id.seq < 10 && id.ms < kLongNumber) [[likely]] {
    const size_t digits = NumeralSize(id.ms, kShortest);
    static_assert(kNumeralRoom <= OutputBuffer::kSlack);
    return reply.Bulk(digits + 2, [&](char* to) {
      WriteNumeral(to, id.ms, static_cast<uint8_t>(digits));
      to[digits] = '-';
      to[digits + 1] = static_cast<char>('0' + id.seq);
    });
  }
  char text[kIdRoom];
  reply.Bulk(WriteId(id, text));
}

std::optional<uint64_t> ParseStreamIdPart(std::string_view text) {
  uint64_t number = 0;
  if (ReadNumeral(text, kShortest, number)) [[likely]]
    return number;
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text[0]))) {
    text.remove_prefix(1);
  }
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return number;
}

std::optional<StreamId> ParseStreamId(std::string_view text, uint64_t missing_seq) {
  if (text.size() > kMostIdBytes) return std::nullopt;
  const size_t dash = text.find('-');
  const std::optional<uint64_t> ms = ParseStreamIdPart(text.substr(0, dash));
  if (!ms) return std::nullopt;
  if (dash == std::string_view::npos) return StreamId{*ms, missing_seq};
  const std::optional<uint64_t> seq = ParseStreamIdPart(text.substr(dash + 1));
  if (!seq) return std::nullopt;
  return StreamId{*ms, *seq};
}

std::optional<StreamId> ParseStreamIdOrEnd(std::string_view text, uint64_t missing_seq) {
  if (text == "-") return kFirstStreamId;
  if (text == "+") return kLastStreamId;
  return ParseStreamId(text, missing_seq);
}

StreamId TakeStreamId(ArgReader& args) {
  const std::optional<StreamId> id = ParseStreamId(args.Word());
  if (!id) args.Refuse(kInvalidStreamId);
  return id.value_or(StreamId());
}

StreamId TakeRangeStart(ArgReader& args) {
  bool is_excluded = false;
  const StreamId id = TakeBound(args, 0, is_excluded);
  if (!is_excluded) return id;
  const std::optional<StreamId> next = id.Next();
  if (!next) args.Refuse("ERR invalid start ID for the interval");
  return next.value_or(id);
}

StreamId TakeRangeEnd(ArgReader& args) {
  bool is_excluded = false;
  const StreamId id = TakeBound(args, UINT64_MAX, is_excluded);
  if (!is_excluded) return id;
  const std::optional<StreamId> previous = id.Previous();
  if (!previous) args.Refuse("ERR invalid end ID for the interval");
  return previous.value_or(id);
}

}  // namespace zsetd
