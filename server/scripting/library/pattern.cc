#include "server/scripting/library/pattern.h"

#include <cassert>
#include <cstring>

namespace zsetd {
namespace {

constexpr char kEscape = '%';

bool IsDigit(unsigned char byte) { return byte >= '0' && byte <= '9'; }
bool IsLower(unsigned char byte) { return byte >= 'a' && byte <= 'z'; }
bool IsUpper(unsigned char byte) { return byte >= 'A' && byte <= 'Z'; }
bool IsLetter(unsigned char byte) { return IsLower(byte) || IsUpper(byte); }
bool IsSpace(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool IsPunctuation(unsigned char byte) {
  return byte > ' ' && byte < 0x7f && !IsLetter(byte) && !IsDigit(byte);
}
bool IsHexDigit(unsigned char byte) {
  return IsDigit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

// Whether the byte is in the class %`name`. An upper case name means the complement.
bool ClassContains(unsigned char byte, char name) {
  bool contains = false;
  switch (name | 0x20) {
    case 'a':
      contains = IsLetter(byte);
      break;
    case 'c':
      contains = byte < ' ' || byte == 0x7f;
      break;
    case 'd':
      contains = IsDigit(byte);
      break;
    case 'l':
      contains = IsLower(byte);
      break;
    case 'p':
      contains = IsPunctuation(byte);
      break;
    case 's':
      contains = IsSpace(byte);
      break;
    case 'u':
      contains = IsUpper(byte);
      break;
    case 'w':
      contains = IsLetter(byte) || IsDigit(byte);
      break;
    case 'x':
      contains = IsHexDigit(byte);
      break;
    case 'z':
      contains = byte == 0;
      break;
    default:
      return byte == static_cast<unsigned char>(name);
  }
  if (!IsLetter(static_cast<unsigned char>(name))) return byte == static_cast<unsigned char>(name);
  return IsUpper(static_cast<unsigned char>(name)) ? !contains : contains;
}

std::string_view UntilNul(std::string_view pattern) {
  return pattern.substr(0, pattern.find('\0'));
}

}  // namespace

PatternMatcher::PatternMatcher(std::string_view text, std::string_view pattern)
    : text_(text), pattern_(UntilNul(pattern)) {}

bool PatternMatcher::IsPlain(std::string_view pattern) {
  return UntilNul(pattern).find_first_of("^$*+?.([%-") == std::string_view::npos;
}

void PatternMatcher::Begin(size_t start, bool only_there) {
  assert(start <= text_.size());
  only_there_ = only_there;
  error_ = nullptr;
  StartAt(start);
}

void PatternMatcher::StartAt(size_t start) {
  start_ = start;
  at_ = start;
  next_ = 0;
  capture_count_ = 0;
  is_repeating_ = false;
  choices_.clear();
}

PatternMatcher::Result PatternMatcher::Run(size_t steps) {
  for (charged_ = 0; charged_ < steps; ++charged_) {
    if (is_repeating_ ? Repeat() : Step()) {
      if (!is_repeating_ && next_ >= pattern_.size()) return Result::kMatch;
      continue;
    }
    if (error_ != nullptr) return Result::kError;
    if (Retry()) {
      if (!is_repeating_ && next_ >= pattern_.size()) return Result::kMatch;
      continue;
    }
    if (only_there_ || start_ >= text_.size()) return Result::kNoMatch;
    StartAt(start_ + 1);
  }
  return Result::kUnfinished;
}

bool PatternMatcher::Fail(const char* error) {
  error_ = error;
  return false;
}

// Matches the next item of the pattern. Returns false if it does not match.
bool PatternMatcher::Step() {
  if (next_ >= pattern_.size()) return true;
  switch (pattern_[next_]) {
    case '(':
      return PatternAt(next_ + 1) == ')' ? OpenCapture(Capture::kPosition)
                                         : OpenCapture(Capture::kOpen);
    case ')':
      return CloseCapture();
    case '$':
      if (next_ + 1 < pattern_.size()) return StepItem();
      ++next_;
      return at_ == text_.size();
    case kEscape: {
      bool is_item = false;
      const bool matches = StepEscape(is_item);
      return is_item ? StepItem() : matches;
    }
    default:
      return StepItem();
  }
}

bool PatternMatcher::StepEscape(bool& is_item) {
  const char kind = PatternAt(next_ + 1);
  if (kind == 'b') return MatchBalanced();
  if (kind == 'f') return MatchFrontier();
  if (IsDigit(static_cast<unsigned char>(kind))) return MatchCapture(kind);
  is_item = true;
  return false;
}

// Matches one character, or starts its repetitions.
bool PatternMatcher::StepItem() {
  const size_t item = next_;
  const size_t end = ItemEnd(item);
  if (error_ != nullptr) return false;
  using Kind = Choice::Kind;
  switch (PatternAt(end)) {
    case '?':
      if (Matches(at_, item, end)) {
        choices_.push_back({Kind::kSkip, 0, at_, item, end + 1, 0});
        ++at_;
      }
      next_ = end + 1;
      return true;
    case '+':
      if (!Matches(at_, item, end)) return false;
      ++at_;
      [[fallthrough]];
    case '*':
      choices_.push_back({Kind::kShorter, 0, at_, item, end + 1, 0});
      is_repeating_ = true;
      return true;
    case '-':
      choices_.push_back({Kind::kLonger, 0, at_, item, end + 1, 0});
      next_ = end + 1;
      return true;
    default:
      if (!Matches(at_, item, end)) return false;
      ++at_;
      next_ = end;
      return true;
  }
}

// Repeats the item of the last choice as often as it matches, up to 64 times in each call.
bool PatternMatcher::Repeat() {
  constexpr size_t kMostTimes = 64;
  Choice& choice = choices_.back();
  for (size_t i = 0; i < kMostTimes; ++i) {
    if (!Matches(choice.at + choice.count, choice.item, choice.rest - 1)) {
      is_repeating_ = false;
      at_ = choice.at + choice.count;
      next_ = choice.rest;
      return true;
    }
    ++choice.count;
  }
  Charge(kMostTimes / 4);
  return true;
}

// Returns to the last choice that has another alternative. Returns false if no choice has one.
bool PatternMatcher::Retry() {
  using Kind = Choice::Kind;
  while (!choices_.empty()) {
    Choice& choice = choices_.back();
    Charge(1);
    switch (choice.kind) {
      case Kind::kForget:
        --capture_count_;
        break;
      case Kind::kReopen:
        captures_[choice.capture].size = Capture::kOpen;
        break;
      case Kind::kSkip:
        at_ = choice.at;
        next_ = choice.rest;
        choices_.pop_back();
        return true;
      case Kind::kShorter:
        if (choice.count == 0) break;
        --choice.count;
        at_ = choice.at + choice.count;
        next_ = choice.rest;
        return true;
      case Kind::kLonger:
        if (!Matches(choice.at, choice.item, choice.rest - 1)) break;
        ++choice.at;
        at_ = choice.at;
        next_ = choice.rest;
        return true;
    }
    choices_.pop_back();
  }
  return false;
}

bool PatternMatcher::OpenCapture(ptrdiff_t size) {
  if (capture_count_ >= kMostCaptures) return Fail("too many captures");
  captures_[capture_count_++] = {at_, size};
  choices_.push_back({Choice::Kind::kForget, 0, 0, 0, 0, 0});
  next_ += size == Capture::kPosition ? 2 : 1;
  return true;
}

bool PatternMatcher::CloseCapture() {
  for (size_t i = capture_count_; i-- > 0;) {
    if (captures_[i].size != Capture::kOpen) continue;
    captures_[i].size = static_cast<ptrdiff_t>(at_ - captures_[i].start);
    choices_.push_back({Choice::Kind::kReopen, static_cast<uint8_t>(i), 0, 0, 0, 0});
    ++next_;
    return true;
  }
  return Fail("invalid pattern capture");
}

// Matches %bxy.
bool PatternMatcher::MatchBalanced() {
  if (next_ + 3 >= pattern_.size()) return Fail("unbalanced pattern");
  const char opening = pattern_[next_ + 2];
  const char closing = pattern_[next_ + 3];
  if (TextAt(at_) != opening) return false;
  size_t depth = 1;
  for (size_t i = at_ + 1; i < text_.size(); ++i) {
    if (text_[i] == closing) {
      if (--depth > 0) continue;
      Charge((i - at_) / 4);
      at_ = i + 1;
      next_ += 4;
      return true;
    }
    if (text_[i] == opening) ++depth;
  }
  Charge((text_.size() - at_) / 4);
  return false;
}

// Matches %f[set].
bool PatternMatcher::MatchFrontier() {
  const size_t set = next_ + 2;
  if (PatternAt(set) != '[') return Fail("missing '[' after '%f' in pattern");
  const size_t end = ItemEnd(set);
  if (error_ != nullptr) return false;
  const auto before = static_cast<unsigned char>(at_ == 0 ? '\0' : text_[at_ - 1]);
  const auto here = static_cast<unsigned char>(TextAt(at_));
  if (SetContains(before, set, end - 1) || !SetContains(here, set, end - 1)) return false;
  next_ = end;
  return true;
}

// Matches a back reference such as %1.
bool PatternMatcher::MatchCapture(char digit) {
  const auto index = static_cast<size_t>(digit - '1');  // very large for %0
  if (index >= capture_count_ || captures_[index].size == Capture::kOpen) {
    return Fail("invalid capture index");
  }
  // As in Lua 5.1, a position capture never matches here.
  if (captures_[index].size == Capture::kPosition) return false;
  const auto size = static_cast<size_t>(captures_[index].size);
  if (text_.size() - at_ < size) return false;
  Charge(size / 16);
  if (std::memcmp(text_.data() + captures_[index].start, text_.data() + at_, size) != 0)
    return false;
  at_ += size;
  next_ += 2;
  return true;
}

// Returns the end of the item that begins at `item`: a character, an escaped character, or a set.
size_t PatternMatcher::ItemEnd(size_t item) {
  const char first = pattern_[item];
  if (first == kEscape) {
    if (item + 1 >= pattern_.size()) Fail("malformed pattern (ends with '%')");
    return item + 2;
  }
  if (first != '[') return item + 1;
  size_t end = item + 1;
  if (PatternAt(end) == '^') ++end;
  do {
    if (end >= pattern_.size()) {
      Fail("malformed pattern (missing ']')");
      return end;
    }
    if (pattern_[end++] == kEscape && end < pattern_.size()) ++end;
  } while (PatternAt(end) != ']');
  Charge((end - item) / 4);
  return end + 1;
}

bool PatternMatcher::Matches(size_t at, size_t item, size_t item_end) {
  if (at >= text_.size()) return false;
  const auto byte = static_cast<unsigned char>(text_[at]);
  switch (pattern_[item]) {
    case '.':
      return true;
    case kEscape:
      return ClassContains(byte, pattern_[item + 1]);
    case '[':
      return SetContains(byte, item, item_end - 1);
    default:
      return static_cast<unsigned char>(pattern_[item]) == byte;
  }
}

// `set` is the index of the [, and `set_last` that of the ].
bool PatternMatcher::SetContains(unsigned char byte, size_t set, size_t set_last) {
  Charge((set_last - set) / 4);
  bool contained = true;
  if (pattern_[set + 1] == '^') {
    contained = false;
    ++set;
  }
  for (size_t i = set + 1; i < set_last; ++i) {
    const char each = pattern_[i];
    if (each == kEscape) {
      ++i;
      if (ClassContains(byte, PatternAt(i))) return contained;
    } else if (PatternAt(i + 1) == '-' && i + 2 < set_last) {
      const auto least = static_cast<unsigned char>(each);
      const auto most = static_cast<unsigned char>(pattern_[i + 2]);
      if (least <= byte && byte <= most) return contained;
      i += 2;
    } else if (static_cast<unsigned char>(each) == byte) {
      return contained;
    }
  }
  return !contained;
}

}  // namespace zsetd
