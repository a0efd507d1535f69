#include "tests/transcript/transcript_reply.h"

#include <charconv>
#include <optional>
#include <regex>
#include <span>

#include "tests/transcript/transcript_line.h"

namespace zsetd {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kEmptyLine = "(empty)";
constexpr std::string_view kWaits = "(waits)";
constexpr std::string_view kClosed = "(closed)";
constexpr std::string_view kAnyLines = "...";
constexpr std::string_view kRegexMark = "~ ";

bool IsPrintable(char byte) { return byte >= ' ' && byte <= '~'; }

// Returns whether the file would parse this reply line as something else.
bool IsAmbiguous(std::string_view line) {
  return line == kWaits || line == kClosed || line == kEmptyLine || line == kAnyLines ||
         line.starts_with(kRegexMark) || KindOfLine(line) != LineKind::kReply;
}

std::string Hex(char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

// The inverse of ShowLine. Returns nullopt if a backslash precedes anything but \ or xHH.
std::optional<std::string> Unescape(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text[0] != '\\') {
      bytes += text[0];
      text.remove_prefix(1);
    } else if (text.starts_with("\\\\")) {
      bytes += '\\';
      text.remove_prefix(2);
    } else {
      unsigned value = 0;
      if (!text.starts_with("\\x") || text.size() < 4) return std::nullopt;
      if (std::from_chars(text.data() + 2, text.data() + 4, value, 16).ptr != text.data() + 4) {
        return std::nullopt;
      }
      bytes += static_cast<char>(value);
      text.remove_prefix(4);
    }
  }
  return bytes;
}

std::vector<std::string_view> Lines(std::string_view bytes) {
  std::vector<std::string_view> lines;
  while (!bytes.empty()) {
    const size_t end = bytes.find(kLineEnd);
    lines.push_back(bytes.substr(0, end));
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + kLineEnd.size());
  }
  return lines;
}

bool MatchesLine(const LinePattern& pattern, std::string_view line) {
  if (pattern.kind == LinePattern::Kind::kExact) return pattern.text == line;
  return std::regex_match(ShowLine(line), std::regex(pattern.text));
}

bool MatchesAll(std::span<const LinePattern> patterns, std::span<const std::string_view> lines) {
  if (patterns.empty()) return lines.empty();
  if (patterns[0].kind == LinePattern::Kind::kAnyLines) {
    for (size_t skipped = 0; skipped <= lines.size(); ++skipped) {
      if (MatchesAll(patterns.subspan(1), lines.subspan(skipped))) return true;
    }
    return false;
  }
  return !lines.empty() && MatchesLine(patterns[0], lines[0]) &&
         MatchesAll(patterns.subspan(1), lines.subspan(1));
}

}  // namespace

std::string_view AddLine(std::string_view line, Expectation& expected) {
  using Kind = LinePattern::Kind;
  if (expected.waits || expected.closed) return "no line may follow this one";
  if (line == kWaits) {
    expected.waits = true;
    return expected.lines.empty() ? "" : "a client that waits receives nothing";
  }
  if (line == kClosed) {
    expected.closed = true;
  } else if (line == kAnyLines) {
    expected.lines.push_back({Kind::kAnyLines, ""});
  } else if (line.starts_with(kRegexMark)) {
    expected.lines.push_back({Kind::kRegex, std::string(line.substr(kRegexMark.size()))});
  } else {
    const auto bytes = Unescape(line == kEmptyLine ? "" : line);
    if (!bytes) return "a backslash precedes \\ or xHH only";
    expected.lines.push_back({Kind::kExact, *bytes});
  }
  return "";
}

bool Matches(const Expectation& expected, std::string_view bytes) {
  if (bytes.empty() || expected.lines.empty()) return bytes.empty() && expected.lines.empty();
  return bytes.ends_with(kLineEnd) && MatchesAll(expected.lines, Lines(bytes));
}

std::string ShowLine(std::string_view line) {
  if (line.empty()) return std::string(kEmptyLine);
  std::string shown;
  for (const char byte : line) {
    const bool lost = !IsPrintable(byte) || (shown.empty() && IsAmbiguous(line));
    shown += lost ? Hex(byte) : byte == '\\' ? "\\\\" : std::string(1, byte);
  }
  if (shown.ends_with(' ')) shown.replace(shown.size() - 1, 1, Hex(' '));
  return shown;
}

std::vector<std::string> ShowLines(std::string_view bytes) {
  std::vector<std::string> shown;
  for (const std::string_view line : Lines(bytes)) shown.push_back(ShowLine(line));
  if (!bytes.empty() && !bytes.ends_with(kLineEnd)) shown.back() += "  (without a line end)";
  return shown;
}

std::vector<std::string> ShowLines(const Expectation& expected) {
  std::vector<std::string> shown;
  for (const LinePattern& line : expected.lines) {
    using Kind = LinePattern::Kind;
    shown.push_back(line.kind == Kind::kExact   ? ShowLine(line.text)
                    : line.kind == Kind::kRegex ? std::string(kRegexMark) + line.text
                                                : std::string(kAnyLines));
  }
  if (expected.waits) shown.emplace_back(kWaits);
  if (expected.closed) shown.emplace_back(kClosed);
  return shown;
}

}  // namespace zsetd
