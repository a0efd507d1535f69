#include "core/glob.h"

#include <cstddef>
#include <optional>
#include <utility>

namespace zsetd {
namespace {

struct SameByte {
  char operator()(char byte) const { return byte; }
};

struct LowerAscii {
  char operator()(char byte) const { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte; }
};

// What a piece of a pattern that stands for one byte says to a byte.
struct Verdict {
  bool matches;
  size_t length;  // of the piece, in the pattern
};

// An escaped byte in brackets counts as it is in either mode, as in Redis.
template <class Fold>
Verdict JudgeClassItem(std::string_view items, char byte, Fold fold) {
  if (items[0] == '\\' && items.size() >= 2) return {items[1] == byte, 2};
  if (items.size() < 3 || items[1] != '-') return {fold(items[0]) == fold(byte), 1};

  // The end may be any byte, a bracket too. The lower bound may stand last. Bytes are compared as
  // numbers from -128 to 127, as Redis does on x86.
  auto [low, high] = std::pair<signed char, signed char>(items[0], items[2]);
  if (low > high) std::swap(low, high);
  const signed char folded = fold(byte);
  return {fold(low) <= folded && folded <= fold(high), 3};
}

// `pattern` starts with [.
template <class Fold>
Verdict JudgeClass(std::string_view pattern, char byte, Fold fold) {
  const bool negated = pattern.size() > 1 && pattern[1] == '^';
  size_t at = negated ? 2 : 1;
  bool listed = false;
  while (at < pattern.size() && pattern[at] != ']') {
    const Verdict item = JudgeClassItem(pattern.substr(at), byte, fold);
    listed |= item.matches;
    at += item.length;
  }
  const bool closed = at < pattern.size();
  return {listed != negated, closed ? at + 1 : at};
}

// `pattern` does not start with a star.
template <class Fold>
Verdict Judge(std::string_view pattern, char byte, Fold fold) {
  if (pattern[0] == '?') return {true, 1};
  if (pattern[0] == '[') return JudgeClass(pattern, byte, fold);
  const size_t escape = pattern[0] == '\\' && pattern.size() >= 2 ? 1 : 0;
  return {fold(pattern[escape]) == fold(byte), escape + 1};
}

// Every star takes as little as it can, and only the last one met ever takes more: a byte that an
// earlier star could take more is one that the last star can take as well.
template <class Fold>
bool Matches(std::string_view pattern, std::string_view text, Fold fold) {
  std::optional<std::string_view> after_star;
  std::string_view beyond_star;  // the text from where `after_star` is being tried
  while (!text.empty()) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      beyond_star = text;
      continue;
    }
    const Verdict verdict = pattern.empty() ? Verdict{} : Judge(pattern, text[0], fold);
    if (verdict.matches) {
      pattern.remove_prefix(verdict.length);
      text.remove_prefix(1);
      continue;
    }
    if (!after_star) return false;
    beyond_star.remove_prefix(1);
    pattern = *after_star;
    text = beyond_star;
  }
  return pattern.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace

bool GlobMatches(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, SameByte());
}

bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, LowerAscii());
}

}  // namespace zsetd
