#include "core/sorted_set/element_sampler.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace zsetd {
namespace {

// Draws until each element was drawn several hundred times, and expects about equal counts.
void ExpectEvenDraws(const std::map<std::string, double>& scores, ElementSampler& pool) {
  constexpr int kTimes = 400;
  Rng rng(1);
  std::map<std::string, int> drawn;
  for (size_t i = 0; i < kTimes * scores.size(); ++i) {
    const Element element = pool.Draw(rng);
    const auto held = scores.find(std::string(element.member));
    ASSERT_NE(held, scores.end());
    ASSERT_EQ(element.score, held->second);
    ++drawn[held->first];
  }
  ASSERT_EQ(drawn.size(), scores.size());
  for (const auto& [member, times] : drawn) ASSERT_NEAR(times, kTimes, 120) << member;
}

// Six standard deviations are 120. The blocks are filled unevenly, as removals leave them, with
// members of all lengths.
TEST(ElementSampler, DrawsAllElementsEquallyOftenAfterAnyChanges) {
  for (const int size : {1, 3, 100, 1500}) {
    SortedSet set;
    std::map<std::string, double> scores;
    for (int i = 0; i < size; ++i) {
      const std::string member = std::string(i % 50 == 7 ? 300 : i % 5, 'x') + std::to_string(i);
      scores[member] = i * 0.1;
      set.Set(member, i * 0.1);
    }
    for (int i = 0; i < size; ++i) {
      const std::string member = std::to_string(i);
      if (i / 60 % 2 == 1 && set.Remove(member)) scores.erase(member);
    }
    ElementSampler pool(set);
    set.Remove(RankRange{0, set.size()});
    ExpectEvenDraws(scores, pool);
  }
}

}  // namespace
}  // namespace zsetd
