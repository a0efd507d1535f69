#include "core/sorted_set/union_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/util/rng.h"
#include "tests/core/sorted_set/sorted_set_model.h"

namespace zsetd {
namespace {

ScoreFold Sum() {
  ScoreFold fold(Aggregate::kSum);
  fold.AddWeight(1);
  return fold;
}

// Short members and long ones, often the same, and empty ones.
std::string SomeMember(Rng& rng) {
  return std::string(rng.Below(50) == 0 ? rng.Below(10000) : rng.Below(4),
                     static_cast<char>('a' + rng.Below(26)));
}

TEST(UnionTable, CombinesRepeatedMembersAndGrowsBeyondTheExpectedSize) {
  for (const size_t expected : {0, 100, 10000}) {
    Rng rng(expected);
    const ScoreFold fold = Sum();
    UnionTable table(expected);
    table.BeginInput(fold);
    std::map<std::string, double> model;
    for (int step = 0; step < 20000; ++step) {
      const std::string member = SomeMember(rng) + std::to_string(rng.Below(2000));
      const auto score = static_cast<double>(rng.Below(10));
      table.Add(member, score);
      model[member] += score;
    }
    std::map<std::string, double> built;
    for (const auto& [score, member] : ElementsOf(table.Build())) built[member] = score;
    EXPECT_EQ(built, model);
  }
}

TEST(UnionTable, EmptyTableMakesAnEmptySet) { EXPECT_TRUE(UnionTable(0).Build().empty()); }

}  // namespace
}  // namespace zsetd
