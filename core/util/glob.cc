#include "core/util/glob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

struct SameByte {
  char operator()(char byte) const { return byte; }
};

struct LowerAscii {
  char operator()(char byte) const { return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte; }
};

// Whether a piece of a pattern, which matches single bytes, matches a given byte.
struct Verdict {
  bool matches;
  size_t length;  // of the piece, in the pattern
};

// As in Redis, an escaped byte in brackets is compared exactly in either mode.
template <class Fold>
Verdict JudgeClassItem(std::string_view items, char byte, Fold fold) {
  if (items[0] == '\\' && items.size() >= 2) return {items[1] == byte, 2};
  if (items.size() < 3 || items[1] != '-') return {fold(items[0]) == fold(byte), 1};

  // The second bound may be any byte, including a bracket. The bounds may be in descending order.
  // Bytes are compared as numbers from -128 to 127, like in Redis on x86, also where char has no
  // sign.
  auto [low, high] = std::pair<signed char, signed char>(items[0], items[2]);
  if (low > high) std::swap(low, high);
  const signed char least = fold(low);
  const signed char most = fold(high);
  const signed char folded = fold(byte);
  return {least <= folded && folded <= most, 3};
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

// Finds a run of pieces of any kind with the bits of machine words. Bit i of the state is set if
// the text that ends here matches the pieces up to the i-th (Baeza-Yates and Gonnet 1992, "A new
// approach to text searching"). So each byte of the text takes one step per 64 pieces. A comparison
// at each place would take up to one step per byte of the run.
template <class Fold>
class ParallelSearch {
 public:
  ParallelSearch(std::string_view run, size_t pieces, Fold fold)
      : pieces_(pieces), words_((pieces + kBits - 1) / kBits), accepts_(kBytes * words_) {
    for (size_t piece = 0; piece < pieces; ++piece) {
      size_t length = 0;
      for (size_t byte = 0; byte < kBytes; ++byte) {
        const Verdict verdict = Judge(run, static_cast<char>(byte), fold);
        length = verdict.length;
        if (verdict.matches) Word(byte, piece / kBits) |= uint64_t{1} << piece % kBits;
      }
      run.remove_prefix(length);
    }
  }

  // The first position in the text at which the run matches.
  std::optional<size_t> FindIn(std::string_view text) {
    std::vector<uint64_t> state(words_);
    const uint64_t last = uint64_t{1} << (pieces_ - 1) % kBits;
    for (size_t at = 0; at < text.size(); ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      uint64_t carry = 1;  // a match may begin at every byte
      for (size_t word = 0; word < words_; ++word) {
        const uint64_t next = state[word] >> (kBits - 1);
        state[word] = (state[word] << 1 | carry) & Word(byte, word);
        carry = next;
      }
      if ((state[words_ - 1] & last) != 0) return at + 1 - pieces_;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kBits = 64;
  static constexpr size_t kBytes = 256;  // the number of byte values

  uint64_t& Word(size_t byte, size_t word) { return accepts_[byte * words_ + word]; }

  size_t pieces_;
  size_t words_;
  std::vector<uint64_t> accepts_;  // for each byte: the pieces that match it
};

// A run of a pattern between two stars, before the first one or after the last one. Each of its
// pieces matches one byte, so a run matches exactly as many bytes as it has pieces.
template <class Fold>
class Run {
 public:
  Run(std::string_view pattern, Fold fold) : pattern_(pattern), fold_(fold) {
    while (!pattern.empty()) {
      is_literal_ &= pattern[0] != '?' && pattern[0] != '[';
      has_escapes_ |= pattern[0] == '\\';
      pattern.remove_prefix(Judge(pattern, 0, fold).length);
      ++size_;
    }
  }

  size_t size() const { return size_; }

  // Precondition: `text` has at least size() bytes.
  bool StartsAt(std::string_view text) const {
    std::string_view rest = pattern_;
    for (size_t at = 0; at < size_; ++at) {
      const Verdict verdict = Judge(rest, text[at], fold_);
      if (!verdict.matches) return false;
      rest.remove_prefix(verdict.length);
    }
    return true;
  }

  // The first position in the text at which the run matches.
  std::optional<size_t> FindIn(std::string_view text) const {
    if (std::is_same_v<Fold, SameByte> && is_literal_) return FindBytes(text);
    if (pattern_.size() > kMostTried) return std::nullopt;
    const size_t places = text.size() < size_ ? 0 : text.size() - size_ + 1;
    const size_t tried = std::min(places, kPlacesTried);
    for (size_t at = 0; at < tried; ++at) {
      if (StartsAt(text.substr(at))) return at;
    }
    if (tried == places) return std::nullopt;
    const auto found = ParallelSearch<Fold>(pattern_, size_, fold_).FindIn(text.substr(tried));
    return found ? std::optional(tried + *found) : std::nullopt;
  }

 private:
  // The longest run with wildcards, in bytes. A longer run never matches, because a pattern of a
  // megabyte would stop the server for hours.
  static constexpr size_t kMostTried = 1'000;

  // The places that are compared before the parallel search is used. Its tables are too costly for
  // short texts, which nearly all keys are.
  static constexpr size_t kPlacesTried = 256;

  // Takes linear time, which neither std::string_view::find() nor std::search() guarantees.
  std::optional<size_t> FindBytes(std::string_view text) const {
    const std::string plain = has_escapes_ ? Unescaped() : std::string();
    const std::string_view bytes = has_escapes_ ? plain : pattern_;
    const void* found = memmem(text.data(), text.size(), bytes.data(), bytes.size());
    if (found == nullptr) return std::nullopt;
    return static_cast<const char*>(found) - text.data();
  }

  std::string Unescaped() const {
    std::string bytes;
    for (size_t at = 0; at < pattern_.size(); ++at) {
      if (pattern_[at] == '\\' && at + 1 < pattern_.size()) ++at;
      bytes += pattern_[at];
    }
    return bytes;
  }

  std::string_view pattern_;
  Fold fold_;
  size_t size_ = 0;
  bool is_literal_ = true;
  bool has_escapes_ = false;
};

// The place of the next star in the pattern, or its end.
size_t NextStar(std::string_view pattern) {
  size_t at = 0;
  while (at < pattern.size() && pattern[at] != '*') {
    at += Judge(pattern.substr(at), 0, SameByte()).length;
  }
  return at;
}

// Every star matches as few bytes as possible, because the next star can match the others. The last
// run can only match at the end.
template <class Fold>
bool Matches(std::string_view pattern, std::string_view text, Fold fold) {
  size_t star = NextStar(pattern);
  const Run<Fold> first(pattern.substr(0, star), fold);
  if (first.size() > text.size() || !first.StartsAt(text)) return false;
  if (star == pattern.size()) return first.size() == text.size();
  text.remove_prefix(first.size());
  while (true) {
    pattern.remove_prefix(star + 1);
    star = NextStar(pattern);
    const Run<Fold> run(pattern.substr(0, star), fold);
    if (run.size() > text.size()) return false;
    if (star == pattern.size()) return run.StartsAt(text.substr(text.size() - run.size()));
    const std::optional<size_t> found = run.FindIn(text);
    if (!found) return false;
    text.remove_prefix(*found + run.size());
  }
}

}  // namespace

bool GlobMatches(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, SameByte());
}

bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, LowerAscii());
}

}  // namespace zsetd
