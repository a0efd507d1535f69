#include "tests/transcript/transcript_line.h"

#include <charconv>

namespace zsetd {
namespace {

constexpr std::string_view kOracleMark = "7.0.15| ";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameBytes = "abcdefghijklmnopqrstuvwxyz0123456789";

bool IsComment(std::string_view line) { return line == "#" || line.starts_with("# "); }

bool IsTime(std::string_view line) {
  return line.size() > 1 && line[0] == '+' &&
         line.find_first_not_of(kDigits, 1) == std::string_view::npos;
}

}  // namespace

LineKind KindOfLine(std::string_view line) {
  if (line.empty() || IsComment(line)) return LineKind::kNothing;
  if (IsTime(line)) return LineKind::kTime;
  if (line.starts_with(kOracleMark)) return LineKind::kOracle;
  const size_t name_end = line.find_first_not_of(kNameBytes);
  if (name_end == 0 || name_end == std::string_view::npos) return LineKind::kReply;
  const std::string_view mark = line.substr(name_end);
  if (mark.starts_with("> ")) return LineKind::kRequest;
  if (mark.starts_with(">> ")) return LineKind::kRaw;
  return mark == "<" ? LineKind::kHeard : LineKind::kReply;
}

std::string_view TakeName(std::string_view& line) {
  const std::string_view name = line.substr(0, line.find_first_not_of(kNameBytes));
  line.remove_prefix(name.size());
  line.remove_prefix(std::min(line.find_first_not_of("<> "), line.size()));
  return name;
}

void TakeOracleMark(std::string_view& line) { line.remove_prefix(kOracleMark.size()); }

Millis TimeOfLine(std::string_view line) {
  int64_t count = 0;
  std::from_chars(line.data() + 1, line.data() + line.size(), count);
  return Millis(count);
}

}  // namespace zsetd
