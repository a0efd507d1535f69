#include "core/util/glob.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>

#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd {
namespace {

struct Case {
  std::string_view pattern;
  std::string_view text;
  bool matches;
};

// For results that are not obvious, the expectation is the reply of redis-server 7.0.15 to KEYS.
constexpr Case kCases[] = {
    {"", "", true},
    {"", "a", false},
    {"a", "", false},
    {"board", "board", true},
    {"board", "boar", false},
    {"boar", "board", false},
    {"Board", "board", false},

    {"*", "", true},
    {"*", "anything", true},
    {"**", "anything", true},
    {"top:*", "top:", true},
    {"top:*", "top:ten", true},
    {"*ten", "top:ten", true},
    {"*ten", "top:tent", false},
    {"t*t*t", "t-t-t-t", true},
    {"t*tent", "tentent", true},
    {"a*b*c", "abcab", false},
    {"*a", "baab", false},

    {"?", "", false},
    {"?", "a", true},
    {"h?llo", "hello", true},
    {"h?llo", "hllo", false},
    {"*?", "a", true},
    {"?*?", "a", false},

    {"h[ae]llo", "hallo", true},
    {"h[ae]llo", "hillo", false},
    {"h[^e]llo", "hello", false},
    {"h[^e]llo", "hallo", true},
    {"[^", "a", true},  // an unclosed bracket without items refuses all, its negation nothing
    {"[", "a", false},
    {"[]", "]", false},  // closed immediately
    {"[]a]", "a]", false},
    {"[^]", "a", true},
    {"[a^]", "^", true},
    {"[abc", "c", true},  // unclosed
    {"x[abc", "xd", false},
    {"[*]", "*", true},
    {"[*]", "a", false},

    {"[a-c]", "b", true},
    {"[a-c]", "d", false},
    {"[c-a]", "b", true},  // reversed
    {"[a-]", "-", false},  // a range up to the bracket, which then is not closed
    {"[a-]", "^", true},
    {"[a-", "-", true},  // no range without an end
    {"[^a-c]", "b", false},
    {"[0-9a-f]", "e", true},
    {"[+--]", ",", true},
    {"[a-\xff]", "b", false},  // 0xff counts as -1
    {"[a-\xff]", "Z", true},
    {"[\x80-\xff]", "\xc3", true},

    {"\\*", "*", true},
    {"\\*", "a", false},
    {"\\a", "a", true},
    {"a\\", "a\\", true},  // escapes nothing
    {"\\\\", "\\", true},
    {"[\\]]", "]", true},
    {"[\\a-c]", "b", false},  // an escaped byte starts no range
    {"[\\a-c]", "-", true},
    {"[a-\\]", "\\", true},  // a range ends at whatever byte follows
    {"[\\", "\\", true},
};

TEST(Glob, MatchesLikeRedis) {
  for (const Case& c : kCases) {
    EXPECT_EQ(GlobMatches(c.pattern, c.text), c.matches) << c.pattern << "  " << c.text;
  }
}

constexpr Case kCasesIgnoringCase[] = {
    {"MAX*", "maxmemory", true},     {"max*", "MAXMEMORY", true},
    {"[M]ax", "max", true},          {"[^M]ax", "max", false},
    {"[L-N]ax", "max", true},        {"[l-n]ax", "Max", true},
    {"[Z-a]", "m", false},  // folded to z-a, too late to be put in order
    {"[\\M]ax", "max", false},       {"\\Max", "max", true},
    {"\xc3\x84", "\xc3\xa4", false},  // letters of other alphabets keep their case
};

TEST(Glob, IgnoresTheCaseOfAsciiLetters) {
  for (const Case& c : kCasesIgnoringCase) {
    EXPECT_EQ(GlobMatchesIgnoringCase(c.pattern, c.text), c.matches) << c.pattern << "  " << c.text;
  }
}

TEST(Glob, ZeroBytesAreBytes) {
  using std::operator""sv;
  EXPECT_TRUE(GlobMatches("a?b"sv, "a\0b"sv));
  EXPECT_TRUE(GlobMatches("*\0"sv, "a\0"sv));
  EXPECT_FALSE(GlobMatches("a"sv, "a\0"sv));
}

// A run that nearly matches at each place of the text, and one with a wildcard.
TEST(Glob, LongRunsDoNotCostMuch) {
  const std::string text(1'000'000, 'a');
  const std::string run(500'000, 'a');
  const std::clock_t start = std::clock();
  EXPECT_FALSE(GlobMatches("*" + run + "b*", text));
  EXPECT_FALSE(GlobMatches("*" + run + "b", text));
  EXPECT_TRUE(GlobMatches("*" + run + "*", text));
  EXPECT_TRUE(GlobMatches("*" + run, text));
  EXPECT_FALSE(GlobMatches("*?" + run + "b*", text));
  EXPECT_FALSE(GlobMatches("*[" + run + "]b*", text));
  EXPECT_TRUE(GlobMatches("*\\a" + run + "*", text));
  EXPECT_TRUE(GlobMatches("*?" + run, text));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

// Runs with wildcards that nearly match at each place of a large key: runs of many pieces, of one
// piece with many bytes, and of many stars.
TEST(Glob, RunsWithWildcardsDoNotCostMuch) {
  const std::string text(8'000'000, 'a');
  const auto times = [](int count, std::string_view run) {
    std::string all;
    for (int i = 0; i < count; ++i) all += run;
    return all;
  };
  const std::clock_t start = std::clock();
  EXPECT_FALSE(GlobMatches("*" + times(500, "?") + "b*", text));
  EXPECT_FALSE(GlobMatches("*" + times(240, "[^b]") + "b*", text));
  EXPECT_FALSE(GlobMatches("*[^" + times(990, "b") + "]b*", text));
  EXPECT_FALSE(GlobMatches(times(500, "*?") + "b*", text));
  EXPECT_FALSE(GlobMatches(times(500, "*a?b"), text));
  EXPECT_FALSE(GlobMatchesIgnoringCase("*" + times(900, "A") + "B*", text));
  EXPECT_TRUE(GlobMatches("*" + times(900, "?") + "b*", text + "b"));
  // Less than a second; more than 100 if each place were tried. A sanitizer takes 10.
  EXPECT_LT(std::clock() - start, 60 * CLOCKS_PER_SEC);
}

// The model: tries each length of each star.
bool MatchesByTrying(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return MatchesByTrying(pattern.substr(1), text) ||
           (!text.empty() && MatchesByTrying(pattern, text.substr(1)));
  }
  if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
  return MatchesByTrying(pattern.substr(1), text.substr(1));
}

TEST(Glob, MatchesLikeATrialOfAllPlaces) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  const auto random_text = [&](std::string_view letters, size_t most) {
    std::string random(rng.Below(most + 1), ' ');
    for (char& letter : random) letter = letters[rng.Below(letters.size())];
    return random;
  };
  int matches = 0;
  for (int step = 0; step < 50'000; ++step) {
    const std::string pattern = random_text("aab?**", 8);
    const std::string text = random_text("aab", 10);
    const bool expected = MatchesByTrying(pattern, text);
    ASSERT_EQ(GlobMatches(pattern, text), expected) << pattern << "  " << text;
    ASSERT_EQ(GlobMatchesIgnoringCase(pattern, text), expected) << pattern << "  " << text;
    matches += expected;
  }
  EXPECT_GT(matches, 5'000);
}

// In texts long enough for the search by bits, with runs longer than one of its words.
TEST(Glob, FindsDistantRunsLikeATrialOfAllPlaces) {
  const uint64_t seed = 6;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  int matches = 0;
  for (int step = 0; step < Steps(2'000); ++step) {
    std::string text(400 + rng.Below(400), ' ');
    for (char& letter : text) letter = "aab"[rng.Below(3)];
    const size_t size = 1 + rng.Below(150);
    const size_t place = rng.Below(text.size() - size + 1);
    std::string run;  // matches there, unless one piece is changed
    for (const char byte : text.substr(place, size)) {
      const std::string pieces[] = {std::string(1, byte), "?", std::string("[") + byte + "c]",
                                    "\\" + std::string(1, byte)};
      run += pieces[rng.Below(4)];
    }
    run += "?";
    if (rng.Below(2) == 0) run += "c";
    size_t expected = std::string::npos;
    for (size_t at = 0; at < text.size() && expected == std::string::npos; ++at) {
      if (GlobMatches(run + "*", std::string_view(text).substr(at))) expected = at;
    }
    ASSERT_EQ(GlobMatches("*" + run + "*", text), expected != std::string::npos)
        << run << "  " << text;
    matches += expected != std::string::npos;
  }
  EXPECT_GT(matches, Steps(500));
}

// If each star made every choice again, this would practically never end.
TEST(Glob, ManyStarsDoNotCostMuch) {
  std::string pattern;
  for (int i = 0; i < 1'000; ++i) pattern += "a*";
  const std::string text(10'000, 'a');
  const std::clock_t start = std::clock();
  EXPECT_TRUE(GlobMatches(pattern, text));
  EXPECT_FALSE(GlobMatches(pattern + "b", text));
  EXPECT_FALSE(GlobMatches("*" + std::string(50, 'a') + "*b*", text));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace zsetd
