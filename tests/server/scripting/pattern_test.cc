// Patterns, compared with LuaJIT's own functions.

#include "server/scripting/library/pattern.h"

#include <gtest/gtest.h>

#include <lua.hpp>
#include <random>
#include <string>
#include <string_view>

namespace zsetd {
namespace {

// Returns a result such as "3 5 [a] @2", or an error.
std::string Found(std::string_view text, std::string_view pattern, size_t steps) {
  const bool is_anchored = pattern.starts_with('^');
  PatternMatcher matcher(text, pattern.substr(is_anchored ? 1 : 0));
  matcher.Begin(0, is_anchored);
  auto result = PatternMatcher::Result::kUnfinished;
  while (result == PatternMatcher::Result::kUnfinished) result = matcher.Run(steps);
  if (result == PatternMatcher::Result::kError) return matcher.error();
  if (result == PatternMatcher::Result::kNoMatch) return "nil";
  std::string found =
      std::to_string(matcher.match_start() + 1) + " " + std::to_string(matcher.match_end());
  for (size_t i = 0; i < matcher.capture_count(); ++i) {
    const auto& capture = matcher.capture(i);
    if (capture.size == PatternMatcher::Capture::kOpen) return "unfinished capture";
    if (capture.size == PatternMatcher::Capture::kPosition) {
      found += " @" + std::to_string(capture.start + 1);
    } else {
      found +=
          " [" + std::string(text.substr(capture.start, static_cast<size_t>(capture.size))) + "]";
    }
  }
  return found;
}

class Reference {
 public:
  Reference() : lua_(luaL_newstate()) { luaL_openlibs(lua_); }
  ~Reference() { lua_close(lua_); }
  Reference(const Reference&) = delete;

  std::string Found(std::string_view text, std::string_view pattern) {
    lua_settop(lua_, 0);
    lua_getglobal(lua_, "string");
    lua_getfield(lua_, -1, "find");
    lua_pushlstring(lua_, text.data(), text.size());
    lua_pushlstring(lua_, pattern.data(), pattern.size());
    if (lua_pcall(lua_, 2, LUA_MULTRET, 0) != 0) {
      const std::string error = lua_tostring(lua_, -1);
      return error.starts_with("bad argument") ? error.substr(error.find('(')) : error;
    }
    if (lua_isnil(lua_, 2)) return "nil";
    std::string found;
    for (int i = 2; i <= lua_gettop(lua_); ++i) {
      if (i == 3) found += ' ';
      const bool is_text = i > 3 && lua_type(lua_, i) == LUA_TSTRING;
      if (i > 3) found += is_text ? " [" : " @";
      found += lua_tostring(lua_, i);
      if (is_text) found += ']';
    }
    return found;
  }

 private:
  lua_State* lua_;
};

TEST(PatternMatcher, MatchesLikeLua) {
  constexpr std::string_view kPieces[] = {
      "a",  "b",    ".",  "%a",    "%d", "%A", "[ab]",  "[^a]", "[a-c]", "[%d_]", "[]]",
      "*",  "+",    "-",  "?",     "*",  "+",  "(",     ")",    "()",    "(a)",   "(.)",
      "%1", "%b()", "$",  "%f[a]", "%.", "%x", "[",     "%",    "%s",    "%w",    "%p",
      "%u", "]",    "%2", "%ba",   "%f", "[^", "[%a-]", "[a-]", "%c",    "^"};
  constexpr std::string_view kLetters = "aabbc1_. ()A";
  constexpr uint32_t kSeed = 20;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  Reference reference;
  int matches = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    std::string pattern;
    for (size_t i = random() % 10; i > 0; --i) text += kLetters[random() % kLetters.size()];
    for (size_t i = random() % 7 + 1; i > 0; --i) pattern += kPieces[random() % std::size(kPieces)];
    if (PatternMatcher::IsPlain(pattern)) continue;
    const std::string expected = reference.Found(text, pattern);
    matches += expected != "nil";
    ASSERT_EQ(Found(text, pattern, 1'000'000), expected) << '"' << text << "\" " << pattern;
    ASSERT_EQ(Found(text, pattern, 1), expected) << '"' << text << "\" " << pattern;
  }
  EXPECT_GT(matches, 2'000);
}

TEST(PatternMatcher, EndsAtTheFirstNul) {
  EXPECT_EQ(Found(std::string_view("a\0b", 3), std::string_view("a.\0x", 4), 9), "1 2");
  EXPECT_EQ(Found(std::string_view("a\0b", 3), "%z", 9), "2 2");
}

TEST(PatternMatcher, StopsAfterAnyNumberOfSteps) {
  const std::string text(1000, 'a');
  PatternMatcher matcher(text, ".-.-.-.-.-.-b");
  matcher.Begin(0, false);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(matcher.Run(100), PatternMatcher::Result::kUnfinished);
  }
  EXPECT_LT(matcher.BytesUsed(), 10'000u);
}

}  // namespace
}  // namespace zsetd
