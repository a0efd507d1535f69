// The names of channels of live tops, and their messages, which a reader applies to a plain list.

#include "server/engine/notify/top_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/rng.h"
#include "protocol/resp/inline_words.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

using Shown = std::vector<std::pair<std::string, double>>;

TEST(TopChannel, ReadsTheDatabaseTheCountAndTheKey) {
  const auto lowest = ReadTopChannel("__top@12__:1000:a:b");
  ASSERT_TRUE(lowest);
  EXPECT_EQ(lowest->database, 12);
  EXPECT_EQ(lowest->count, 1000);
  EXPECT_FALSE(lowest->reversed);
  EXPECT_EQ(lowest->key, "a:b");
  const auto highest = ReadTopChannel("__toprev@0__:1:");
  ASSERT_TRUE(highest);
  EXPECT_TRUE(highest->reversed);
  EXPECT_EQ(highest->key, "");
}

TEST(TopChannel, IgnoresOtherNames) {
  for (const std::string name :
       {"", "__top", "__top@", "__top@0__", "__top@0__:", "__top@0__:5", "__top@0__:0:k",
        "__top@0__:1001:k", "__top@0__:-1:k", "__top@-1__:5:k", "__top@x__:5:k", "__top@0__:05:k",
        "__top@99999999999__:5:k", "__topping@0__:5:k", "__toprev@0:5:k"}) {
    EXPECT_FALSE(ReadTopChannel(name)) << name;
  }
}

// Applies a message as a subscriber does.
void Apply(const std::string& message, Shown& shown) {
  std::vector<std::vector<std::string>> lines;
  for (size_t start = 0; start < message.size();) {
    const size_t end = std::min(message.find('\n', start), message.size());
    lines.push_back(*SplitWords(message.substr(start, end - start)));
    start = end + 1;
  }
  for (const auto& words : lines) {
    if (words[0] == "in") continue;
    const auto at = std::ranges::find(shown, words.back(), &Shown::value_type::first);
    ASSERT_NE(at, shown.end()) << message;
    shown.erase(at);
  }
  for (const auto& words : lines) {
    if (words[0] == "out") continue;
    const size_t rank = std::stoul(words[words.size() - 3]);
    ASSERT_LE(rank, shown.size()) << message;
    shown.insert(shown.begin() + static_cast<ptrdiff_t>(rank),
                 {words.back(), *ParseDouble(words[words.size() - 2])});
  }
}

class TopMessages : public testing::TestWithParam<bool> {};

TEST_P(TopMessages, LeadFromOneStateToTheNext) {
  constexpr uint64_t kSeed = 37;
  SCOPED_TRACE(kSeed);
  const bool reversed = GetParam();
  Rng rng(kSeed);
  SortedSet set;
  Top before;
  Shown shown;
  for (int step = 0; step < 5'000; ++step) {
    for (uint64_t changes = rng.Below(6); changes > 0; --changes) {
      const std::string member = "m \n" + std::to_string(rng.Below(60));
      if (rng.Below(3) == 0) {
        set.Remove(member);
      } else {
        set.Set(member, static_cast<double>(rng.Below(40)));
      }
    }
    if (rng.Below(200) == 0) set = SortedSet();
    const Top after = TopOf(&set, 10, reversed, Millis(0));
    Apply(TopChanges(before, after), shown);
    ASSERT_EQ(shown.size(), after.elements.size());
    for (size_t rank = 0; rank < shown.size(); ++rank) {
      ASSERT_EQ(shown[rank].first, after.elements[rank].shown());
      ASSERT_EQ(DoubleText(shown[rank].second), after.elements[rank].score());
    }
    ASSERT_EQ(TopChanges(after, after), "");
    before = after;
  }
}

INSTANTIATE_TEST_SUITE_P(Ends, TopMessages, testing::Bool());

TEST(TopMessages, LongMembersAreShortenedButDiffer) {
  const std::string start(TopElement::kShownBytes, 'x');
  const Top before = {.elements = {TopElement(start + "a", "1")}};
  const Top after = {.elements = {TopElement(start + "b", "1")}};
  EXPECT_EQ(TopChanges(before, after), "out " + start + "\nin 0 1 " + start);
  EXPECT_EQ(TopChanges(before, before), "");
}

TEST(TopMessages, AMissingSetHasNoElements) {
  EXPECT_TRUE(TopOf(nullptr, 5, false, Millis(0)).elements.empty());
  const Top before = {.elements = {TopElement("a", "1")}};
  EXPECT_EQ(TopChanges(before, TopOf(nullptr, 5, false, Millis(0))), "out a");
}

// The scores have the same texts, but another order.
TEST(TopMessages, AnotherFormReplacesAllElements) {
  const auto top_of = [](const std::string& form) {
    SortedSet set;
    EXPECT_TRUE(set.SetForm(*ScoreForm::Read(form)));
    for (const std::string score : {"1/1", "1/2"}) set.Place(score, *set.form().Code(score));
    return TopOf(&set, 5, false, Millis(0));
  };
  const Top ascending = top_of("TUPLE 8 8"), descending = top_of("TUPLE 8 8:DESC");
  EXPECT_EQ(TopChanges(ascending, descending), "out 1/1\nout 1/2\nin 0 1/2 1/2\nin 1 1/1 1/1");
  EXPECT_EQ(TopChanges(descending, top_of("TUPLE 8 8:DESC")), "");
  EXPECT_EQ(TopChanges(descending, {}), "out 1/2\nout 1/1");
  EXPECT_EQ(TopChanges({}, ascending), "in 0 1/1 1/1\nin 1 1/2 1/2");
}

TEST(TopMessages, ScoresThatOnlyDecayAreNotReported) {
  SortedSet set;
  ASSERT_TRUE(set.SetForm(*ScoreForm::Read("HALFLIFE 60")));
  set.Place("a", *set.form().Code(8, Millis(0)));
  set.Place("b", *set.form().Code(2, Millis(0)));
  const Top before = TopOf(&set, 5, true, Millis(0));
  const Top later = TopOf(&set, 5, true, Millis(60'000));
  EXPECT_EQ(later.elements[0].score(), "4");
  EXPECT_EQ(TopChanges(before, later), "");
  set.Place("b", *set.form().Code(2, Millis(60'000)));
  EXPECT_EQ(TopChanges(before, TopOf(&set, 5, true, Millis(60'000))), "move 1 1 2 b");
}

}  // namespace
}  // namespace zsetd
