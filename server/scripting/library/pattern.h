#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"

namespace zsetd {

// Matches a Lua 5.1 pattern against a text, in slices.
//
// Some patterns, such as ".-.-.-.-x", take time that is exponential in their length. Therefore the
// matcher keeps its choices on a stack of its own instead of the processor's stack. It can stop
// after any number of steps and continue later:
//
//   a*b against "aac"     choices: (a* took 2), then (a* took 1), then (a* took 0)
//   (a)b                  choices: undo "the capture opened", undo "the capture closed"
//
// When a choice fails, the matcher tries its next alternative, or pops it without one. A
// capture that was opened or closed since then is undone on the way, because its undo is a choice
// without alternatives.
//
// As in Lua 5.1, a pattern ends at its first NUL byte, and character classes are those of ASCII.
// The views that are passed to the constructor outlive the matcher.
class PatternMatcher {
 public:
  static constexpr size_t kMostCaptures = 32;

  enum class Result { kMatch, kNoMatch, kUnfinished, kError };

  // A part of the text, or a position in it.
  struct Capture {
    size_t start;
    ptrdiff_t size;  // or one of these constants

    static constexpr ptrdiff_t kOpen = -1;
    static constexpr ptrdiff_t kPosition = -2;
  };

  PatternMatcher(std::string_view text, std::string_view pattern);

  // Whether the pattern is plain text, without magic characters.
  static bool IsPlain(std::string_view pattern);

  // Starts a search for the first match at `start` or later, or only at `start`.
  void Begin(size_t start, bool only_there);

  // Continues the search for about `steps` steps, each of which takes some nanoseconds. After a
  // result other than kUnfinished, call Begin() before the next Run().
  Result Run(size_t steps);

  // The steps that the last Run() took.
  size_t steps() const { return charged_; }

  // The match. Valid after kMatch.
  size_t match_start() const { return start_; }
  size_t match_end() const { return at_; }
  size_t capture_count() const { return capture_count_; }
  const Capture& capture(size_t index) const { return captures_[index]; }

  const char* error() const { return error_; }  // after kError

  size_t BytesUsed() const { return choices_.capacity() * sizeof(Choice); }

 private:
  struct Choice {
    enum class Kind : uint8_t { kLonger, kShorter, kSkip, kReopen, kForget };
    Kind kind;
    uint8_t capture;  // kReopen
    size_t at;        // index in the text
    size_t item;      // index of the repeated item in the pattern
    size_t rest;      // index after the item's suffix in the pattern
    size_t count;     // kShorter: the repetitions that can still be given up
  };

  void StartAt(size_t start);
  bool Step();
  bool StepItem();
  bool StepEscape(bool& is_item);
  bool Repeat();
  bool Retry();
  bool Fail(const char* error);
  bool OpenCapture(ptrdiff_t size);
  bool CloseCapture();
  bool MatchBalanced();
  bool MatchFrontier();
  bool MatchCapture(char digit);
  size_t ItemEnd(size_t item);
  bool Matches(size_t at, size_t item, size_t item_end);
  bool SetContains(unsigned char byte, size_t set, size_t set_last);
  char PatternAt(size_t index) const { return index < pattern_.size() ? pattern_[index] : '\0'; }
  char TextAt(size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  void Charge(size_t steps) { charged_ += steps; }

  std::string_view text_;
  std::string_view pattern_;
  absl::InlinedVector<Choice, 6> choices_;
  std::array<Capture, kMostCaptures> captures_;
  size_t capture_count_ = 0;
  const char* error_ = nullptr;
  size_t start_ = 0;  // the start of the current attempt
  size_t at_ = 0;     // index in the text
  size_t next_ = 0;   // index in the pattern
  size_t charged_ = 0;
  bool only_there_ = false;
  bool is_repeating_ = false;  // the item of the last choice is being repeated
};

}  // namespace zsetd
