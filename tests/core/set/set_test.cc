#include "core/set/set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/set/set_operations.h"
#include "core/util/rng.h"

namespace zsetd::set_test {
namespace {

using Model = std::set<std::string>;

Set SetOf(const Model& members) {
  Set set;
  for (const std::string& member : members) set.Add(member);
  return set;
}

Model MembersOf(const Set& set) {
  Model members;
  set.ForEach([&](std::string_view member) { members.emplace(member); });
  return members;
}

class SetBesideASet : public testing::TestWithParam<uint64_t> {};

TEST_P(SetBesideASet, HoldsTheSameMembers) {
  SCOPED_TRACE(GetParam());
  Rng rng(GetParam());
  Set set;
  Model model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string member = std::to_string(rng.Below(GetParam() * 150));
    const uint32_t revision = set.revision();
    const bool adds = rng.Below(10) < (step / 5'000 % 2 == 0 ? 8 : 3);
    const bool changed = adds ? model.insert(member).second : model.erase(member) == 1;
    ASSERT_EQ(adds ? set.Add(member) : set.Remove(member), changed);
    ASSERT_EQ(set.revision() != revision, changed);
    ASSERT_EQ(set.Contains(member), adds);
    ASSERT_EQ(set.size(), model.size());
    ASSERT_TRUE(set.empty() || model.contains(std::string(set.Random(rng))));
    if (step % 500 != 0) continue;
    ASSERT_EQ(MembersOf(set), model);
  }
  EXPECT_EQ(MembersOf(set.Clone()), model);
  EXPECT_EQ(MembersOf(set.TakeAll()), model);
  EXPECT_TRUE(set.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SetBesideASet, testing::Range<uint64_t>(1, 7));

std::vector<std::string> InOrder(const Set& set) {
  std::vector<std::string> members;
  set.ForEach([&](std::string_view member) { members.emplace_back(member); });
  return members;
}

// Small and large sets, after any sequence of additions and removals.
TEST(SetEncoding, AnIntsetIsInTheOrderOfItsNumbers) {
  Rng rng(1);
  Set set;
  std::set<int64_t> model;
  for (int step = 0; step < 2'000; ++step) {
    const int64_t number = static_cast<int64_t>(rng.Below(500)) - 250;
    rng.Below(3) > 0 ? set.Add(std::to_string(number)) : set.Remove(std::to_string(number));
    ASSERT_EQ(set.encoding(), SetEncoding::kIntset);
  }
  set.ForEach([&](std::string_view member) { model.insert(std::stoll(std::string(member))); });
  std::vector<std::string> expected;
  for (const int64_t number : model) expected.push_back(std::to_string(number));
  EXPECT_GT(expected.size(), 200u);
  EXPECT_EQ(InOrder(set), expected);
  std::vector<std::string> scanned, sampled;
  EXPECT_EQ(set.Scan(0, [&](std::string_view member) { scanned.emplace_back(member); }), 0u);
  for (const Field& field : set.Sample(1'000, rng)) sampled.emplace_back(field.name);
  EXPECT_EQ(scanned, expected);
  EXPECT_EQ(sampled, expected);
}

TEST(SetEncoding, AnIntsetThatBecomesAListpackKeepsItsOrder) {
  Set set;
  for (const char* member : {"5", "-1", "10", "b", "a", "0"}) set.Add(member);
  EXPECT_EQ(set.encoding(), SetEncoding::kListpack);
  EXPECT_EQ(InOrder(set), (std::vector<std::string>{"-1", "5", "10", "b", "a", "0"}));
}

TEST(SetEncoding, OnlyIntegersMakeAnIntset) {
  for (const char* integer : {"0", "-1", "9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(SetOf({integer}).encoding(), SetEncoding::kIntset) << integer;
  }
  for (const char* other : {"", "-", "-0", "01", "+1", " 1", "1.0", "9223372036854775808",
                            "-9223372036854775809", "18446744073709551616"}) {
    EXPECT_EQ(SetOf({other}).encoding(), SetEncoding::kListpack) << other;
  }
}

TEST(SetEncoding, AnIntsetThatIsFullBecomesAHashtable) {
  const SetLimits limits = {.intset_entries = 2};
  Set set;
  for (const char* member : {"1", "2", "2"}) set.Add(member, limits);
  EXPECT_EQ(set.encoding(), SetEncoding::kIntset);
  set.Add("3", limits);
  EXPECT_EQ(set.encoding(), SetEncoding::kHashtable);
  set.Remove("3");
  EXPECT_EQ(set.encoding(), SetEncoding::kHashtable);
  EXPECT_EQ(set.Clone().encoding(), SetEncoding::kHashtable);
}

TEST(SetEncoding, AListpackIsBoundedInMembersAndTheirBytes) {
  const SetLimits limits = {.listpack_entries = 2, .listpack_value = 3};
  Set many;
  for (const char* member : {"1", "b"}) many.Add(member, limits);
  EXPECT_EQ(many.encoding(), SetEncoding::kListpack);
  many.Add("c", limits);
  EXPECT_EQ(many.encoding(), SetEncoding::kHashtable);

  Set wide;
  wide.Add("abc", limits);
  EXPECT_EQ(wide.encoding(), SetEncoding::kListpack);
  wide.Add("abcd", limits);
  EXPECT_EQ(wide.encoding(), SetEncoding::kHashtable);
}

Model AnyModel(Rng& rng) {
  Model members;
  for (uint64_t left = rng.Below(200); left > 0; --left) {
    members.insert(std::to_string(rng.Below(250)));
  }
  return members;
}

// Combines the models with an algorithm of the standard library.
template <class Algorithm>
Model Folded(const std::vector<Model>& models, Algorithm algorithm) {
  Model result = models[0];
  for (size_t i = 1; i < models.size(); ++i) {
    Model next;
    algorithm(result, models[i], std::inserter(next, next.end()));
    result = std::move(next);
  }
  return result;
}

TEST(SetCombination, EqualsThatOfTheStandardLibrary) {
  const uint64_t seed = 3;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<Model> models;
    for (uint64_t left = 1 + rng.Below(4); left > 0; --left) models.push_back(AnyModel(rng));
    std::vector<Set> sets;
    for (const Model& model : models) sets.push_back(SetOf(model));
    std::vector<const Set*> inputs;
    for (const Set& set : sets) inputs.push_back(set.empty() ? nullptr : &set);

    const Model shared = Folded(models, std::ranges::set_intersection);
    EXPECT_EQ(MembersOf(Union(inputs, {})), Folded(models, std::ranges::set_union));
    EXPECT_EQ(MembersOf(Intersection(inputs, {})), shared);
    EXPECT_EQ(MembersOf(Difference(inputs, {})), Folded(models, std::ranges::set_difference));
    EXPECT_EQ(IntersectionSize(inputs, 1'000), shared.size());
    EXPECT_EQ(IntersectionSize(inputs, 3), std::min<size_t>(shared.size(), 3));
  }
}

}  // namespace
}  // namespace zsetd::set_test
