#include "server/scripting/library/pattern_library.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/library/library_errors.h"
#include "server/scripting/library/long_call.h"
#include "server/scripting/library/pattern.h"
#include "server/scripting/library/script_buffer.h"

namespace zsetd {
namespace {

constexpr size_t kStepsPerLook = 10'000;

// Runs the matcher until it has a result. Returns false if the run is late.
bool Search(lua_State* lua, PatternMatcher& matcher, bool& found) {
  Interpreter& interpreter = Interpreter::Of(lua);
  while (true) {
    switch (matcher.Run(kStepsPerLook)) {
      case PatternMatcher::Result::kMatch:
        found = true;
        return true;
      case PatternMatcher::Result::kNoMatch:
        found = false;
        return true;
      case PatternMatcher::Result::kError:
        Fail(lua, matcher.error());
      case PatternMatcher::Result::kUnfinished:
        if (!interpreter.HasRoomFor(matcher.BytesUsed())) FailMemory(lua);
        if (interpreter.IsLate(lua)) return false;
    }
  }
}

void PushCapture(lua_State* lua, const PatternMatcher& matcher, std::string_view text,
                 size_t index) {
  if (matcher.capture_count() == 0) {
    const size_t size = matcher.match_end() - matcher.match_start();
    return lua_pushlstring(lua, text.data() + matcher.match_start(), size);
  }
  const PatternMatcher::Capture& capture = matcher.capture(index);
  if (capture.size == PatternMatcher::Capture::kPosition) {
    return lua_pushinteger(lua, static_cast<lua_Integer>(capture.start) + 1);
  }
  if (capture.size == PatternMatcher::Capture::kOpen) Fail(lua, "unfinished capture");
  lua_pushlstring(lua, text.data() + capture.start, static_cast<size_t>(capture.size));
}

// Pushes the captures and returns their number. If the pattern has no captures, the whole match is
// the only one.
int PushCaptures(lua_State* lua, const PatternMatcher& matcher, std::string_view text) {
  const size_t count = std::max<size_t>(matcher.capture_count(), 1);
  CheckStack(lua, static_cast<int>(count), "too many captures");
  for (size_t i = 0; i < count; ++i) PushCapture(lua, matcher, text, i);
  return static_cast<int>(count);
}

void PushPosition(lua_State* lua, size_t position) {
  lua_pushinteger(lua, static_cast<lua_Integer>(position));
}

// Converts a position of a script to an offset. Positions count from 1, or from the end if
// negative.
size_t OffsetOf(lua_Integer position, size_t size) {
  const auto length = static_cast<lua_Integer>(size);
  if (position < 0) position = position < -length ? 0 : position + length + 1;
  return static_cast<size_t>(std::clamp<lua_Integer>(position - 1, 0, length));
}

// A search for one match. Its text and pattern are arguments that stay on the stack.
class MatchCall : public LongCall {
 public:
  enum class Kind { kFind, kMatch, kNextMatch, kScan };

  MatchCall(Kind kind, std::string_view text, std::string_view pattern, size_t from,
            bool is_anchored)
      : kind_(kind), text_(text), matcher_(text, pattern) {
    matcher_.Begin(from, is_anchored);
  }

  int Work(lua_State* lua) override {
    bool found = false;
    if (!Search(lua, matcher_, found)) return kUnfinished;
    Interpreter::Of(lua).NoteWork(matcher_.steps());  // a pattern can match thousands of times
    CheckStack(lua, 3, "too many captures");
    if (!found) {
      lua_pushnil(lua);
      return 1;
    }
    const size_t start = matcher_.match_start();
    const size_t end = matcher_.match_end();
    switch (kind_) {
      case Kind::kFind:
        PushPosition(lua, start + 1);
        PushPosition(lua, end);
        return 2 + (matcher_.capture_count() == 0 ? 0 : PushCaptures(lua, matcher_, text_));
      case Kind::kMatch:
        return PushCaptures(lua, matcher_, text_);
      case Kind::kNextMatch:
        PushPosition(lua, end == start ? end + 1 : end);
        return 1 + PushCaptures(lua, matcher_, text_);
      case Kind::kScan:
        PushPosition(lua, start + 1);
        PushPosition(lua, end);
        return 2 + PushCaptures(lua, matcher_, text_);
    }
    return 0;
  }

 private:
  Kind kind_;
  std::string_view text_;
  PatternMatcher matcher_;
};

int FindPlain(lua_State* lua, std::string_view text, std::string_view sought, size_t from) {
  const void* const found =
      memmem(text.data() + from, text.size() - from, sought.data(), sought.size());
  if (found == nullptr) {
    lua_pushnil(lua);
    return 1;
  }
  const auto at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
  PushPosition(lua, at + 1);
  PushPosition(lua, at + sought.size());
  return 2;
}

int StartMatch(lua_State* lua, MatchCall::Kind kind, const char* function) {
  const std::string_view text = TextArgument(lua, 1, function);
  std::string_view pattern = TextArgument(lua, 2, function);
  const size_t from = OffsetOf(OptionalInteger(lua, 3, function, 1), text.size());
  if (kind == MatchCall::Kind::kFind &&
      (lua_toboolean(lua, 4) != 0 || PatternMatcher::IsPlain(pattern))) {
    return FindPlain(lua, text, pattern, from);
  }
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  return StartCall(lua, MatchCall(kind, text, pattern, from, is_anchored));
}

int Find(lua_State* lua) { return StartMatch(lua, MatchCall::Kind::kFind, "find"); }
int Match(lua_State* lua) { return StartMatch(lua, MatchCall::Kind::kMatch, "match"); }

// Called by the Lua part with strings and an offset, which may be one beyond the end.
int StartScan(lua_State* lua, MatchCall::Kind kind, bool is_anchored) {
  const std::string_view text = TextArgument(lua, 1, "gsub");
  const std::string_view pattern = TextArgument(lua, 2, "gsub");
  const auto from = static_cast<size_t>(lua_tointeger(lua, 3));
  if (from > text.size()) {
    lua_pushnil(lua);
    return 1;
  }
  return StartCall(lua, MatchCall(kind, text, pattern, from, is_anchored));
}

int NextMatch(lua_State* lua) { return StartScan(lua, MatchCall::Kind::kNextMatch, false); }
int Scan(lua_State* lua) {
  return StartScan(lua, MatchCall::Kind::kScan, lua_toboolean(lua, 4) != 0);
}

// Checks the first two arguments of gmatch or gsub, and returns them as strings.
int CheckTexts(lua_State* lua) {
  const char* const function = lua_tostring(lua, lua_upvalueindex(1));
  TextArgument(lua, 1, function);
  TextArgument(lua, 2, function);
  lua_settop(lua, 2);
  return 2;
}

// string.gsub with text as the replacement. An attempt to match, and a replacement, can each take
// nearly no time or many slices. So the work of all of them is added up.
class ReplaceCall : public LongCall {
 public:
  ReplaceCall(lua_State* lua, std::string_view text, std::string_view pattern,
              std::string_view replacement, lua_Integer most, bool is_anchored)
      : text_(text),
        replacement_(replacement),
        matcher_(text, pattern),
        result_(lua),
        left_(most),
        is_anchored_(is_anchored) {
    matcher_.Begin(0, /*only_there=*/true);
  }

  int Work(lua_State* lua) override {
    while (left_ > 0) {
      bool found = is_replacing_;
      if (!is_replacing_) {
        if (!Search(lua, matcher_, found)) return kUnfinished;
        work_ += kWorkOfAttempt + matcher_.steps();
        count_ += found ? 1 : 0;
      }
      if (found) {
        is_replacing_ = !AppendReplacement(lua);
        if (is_replacing_) return kUnfinished;
        --left_;
      }
      if (found && matcher_.match_end() > at_) {
        at_ = matcher_.match_end();
      } else if (at_ < text_.size()) {
        result_.Append(lua, text_[at_++]);
      } else {
        break;
      }
      if (is_anchored_) break;
      matcher_.Begin(at_, /*only_there=*/true);
      if (IsLate(lua)) return kUnfinished;
    }
    result_.Append(lua, text_.substr(at_));
    CheckStack(lua, 2, "too many results");
    result_.Push(lua);
    lua_pushinteger(lua, count_);
    return 2;
  }

 private:
  static constexpr size_t kWorkOfAttempt = 10;  // in steps
  static constexpr size_t kBytesPerStep = 16;   // that are copied

  // Looks at the clock if the work since the last time is worth it.
  bool IsLate(lua_State* lua) {
    if (work_ < kStepsPerLook) return false;
    work_ = 0;
    return Interpreter::Of(lua).IsLate(lua);
  }

  void AppendText(lua_State* lua, std::string_view text) {
    work_ += text.size() / kBytesPerStep;
    result_.Append(lua, text);
  }

  // Appends the replacement, or the rest of it. Returns false if the run is late.
  bool AppendReplacement(lua_State* lua) {
    for (; replaced_ < replacement_.size(); ++replaced_) {
      if (IsLate(lua)) return false;
      ++work_;
      if (replacement_[replaced_] != '%') {
        result_.Append(lua, replacement_[replaced_]);
        continue;
      }
      const char kind = ++replaced_ < replacement_.size() ? replacement_[replaced_] : '\0';
      if (kind == '0') {
        AppendText(lua, text_.substr(at_, matcher_.match_end() - at_));
      } else if (kind >= '1' && kind <= '9') {
        AppendCapture(lua, static_cast<size_t>(kind - '1'));
      } else {
        result_.Append(lua, kind);
      }
    }
    replaced_ = 0;
    return true;
  }

  void AppendCapture(lua_State* lua, size_t index) {
    if (index >= std::max<size_t>(matcher_.capture_count(), 1)) Fail(lua, "invalid capture index");
    if (matcher_.capture_count() == 0) {
      return AppendText(lua, text_.substr(at_, matcher_.match_end() - at_));
    }
    const PatternMatcher::Capture& capture = matcher_.capture(index);
    if (capture.size == PatternMatcher::Capture::kPosition) {
      return AppendText(lua, std::to_string(capture.start + 1));
    }
    if (capture.size == PatternMatcher::Capture::kOpen) Fail(lua, "unfinished capture");
    AppendText(lua, text_.substr(capture.start, static_cast<size_t>(capture.size)));
  }

  std::string_view text_;
  std::string_view replacement_;
  PatternMatcher matcher_;
  ScriptBuffer result_;
  size_t at_ = 0;
  lua_Integer left_;
  lua_Integer count_ = 0;
  size_t work_ = 0;            // since the last look at the clock, in steps of the matcher
  size_t replaced_ = 0;        // the bytes of the replacement that the result has for this match
  bool is_replacing_ = false;  // the replacement is not complete
  bool is_anchored_;
};

int Replace(lua_State* lua) {
  const std::string_view text = TextArgument(lua, 1, "gsub");
  std::string_view pattern = TextArgument(lua, 2, "gsub");
  if (lua_isstring(lua, 3) == 0) {
    FailArgument(lua, 3, "gsub", "string/function/table expected");
  }
  const std::string_view replacement = TextArgument(lua, 3, "gsub");
  const lua_Integer most =
      OptionalInteger(lua, 4, "gsub", static_cast<lua_Integer>(text.size()) + 1);
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  return StartCall(lua, ReplaceCall(lua, text, pattern, replacement, most, is_anchored));
}

void SetChecker(lua_State* lua, const char* name, const char* function) {
  lua_pushstring(lua, function);
  lua_pushcclosure(lua, CheckTexts, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace

void PushPatternLibrary(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {
      {"find", Find}, {"match", Match},     {"next_match", NextMatch},
      {"scan", Scan}, {"replace", Replace},
  };
  lua_newtable(lua);
  for (const luaL_Reg& each : kFunctions) {
    lua_pushcfunction(lua, each.func);
    lua_setfield(lua, -2, each.name);
  }
  SetChecker(lua, "check_gmatch", "gmatch");
  SetChecker(lua, "check_gsub", "gsub");
}

}  // namespace zsetd
