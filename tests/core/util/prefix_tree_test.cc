#include "core/util/prefix_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "tests/support/steps.h"

namespace zsetd::prefix_tree_test {
namespace {

using Tree = PrefixTree<int>;

std::vector<int> ValuesFor(Tree& tree, std::string_view text) {
  std::vector<int> values;
  tree.VisitPrefixesOf(text, [&](int& value) {
    values.push_back(value);
    return true;
  });
  return values;
}

std::vector<int> ValuesFor(const std::map<std::string, int>& model, std::string_view text) {
  std::vector<int> values;  // a string comes before those that begin with it
  for (const auto& [prefix, value] : model) {
    if (text.starts_with(prefix)) values.push_back(value);
  }
  return values;
}

// A string of few different bytes, so that strings share prefixes.
std::string AnyText(Rng& rng) {
  std::string text;
  for (uint64_t size = rng.Below(8); size > 0; --size) text += "ab\xff"[rng.Below(3)];
  return text;
}

TEST(PrefixTree, HoldsTheSameStringsAsAMap) {
  constexpr uint64_t kSeed = 18;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  Tree tree;
  std::map<std::string, int> model;
  for (int step = 1; step < Steps(50'000); ++step) {
    const std::string text = AnyText(rng);
    if (rng.Below(2) == 0) {
      tree.FindOrInsert(text) = step;
      model[text] = step;
    } else {
      ASSERT_EQ(tree.Erase(text), model.erase(text) == 1) << text;
    }
    const std::string other = AnyText(rng);
    const auto found = model.find(other);
    const int* const value = tree.Find(other);
    ASSERT_EQ(value == nullptr, found == model.end());
    if (value != nullptr) {
      ASSERT_EQ(*value, found->second);
    }
    ASSERT_EQ(ValuesFor(tree, other), ValuesFor(model, other));
    ASSERT_EQ(tree.size(), model.size());
  }
}

TEST(PrefixTree, StopsWhenTheVisitorStops) {
  Tree tree;
  tree.FindOrInsert("") = 1;
  tree.FindOrInsert("a") = 2;
  int visits = 0;
  tree.VisitPrefixesOf("abc", [&](int&) { return ++visits > 1; });
  EXPECT_EQ(visits, 1);
}

// Neither time nor stack may grow faster than the length: this tree is as deep as it is long.
TEST(PrefixTree, IsAsDeepAsItsLongestString) {
  constexpr size_t kDepth = 100'000;
  const std::string text(kDepth, 'a');
  Tree tree;
  for (size_t size = 100; size <= kDepth; size += 100) {
    tree.FindOrInsert(std::string_view(text).substr(0, size)) = static_cast<int>(size);
  }
  EXPECT_EQ(ValuesFor(tree, text).size(), kDepth / 100);
  for (size_t size = 1; size < 3'000; ++size) {
    tree.FindOrInsert(std::string_view(text).substr(0, size)) = static_cast<int>(size);
  }
  EXPECT_EQ(tree.size(), 2'999 + (kDepth - 2'900) / 100);
}

}  // namespace
}  // namespace zsetd::prefix_tree_test
