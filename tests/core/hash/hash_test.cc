#include "core/hash/hash.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::hash_test {
namespace {

using Model = std::map<std::string, std::string>;

Model FieldsOf(const Hash& hash) {
  Model fields;
  hash.ForEach([&](const Field& field) { fields.emplace(field.name, field.value); });
  return fields;
}

class HashBesideAMap : public testing::TestWithParam<uint64_t> {};

TEST_P(HashBesideAMap, HoldsTheSameFields) {
  SCOPED_TRACE(GetParam());
  Rng rng(GetParam());
  Hash hash;
  Model model;
  for (int step = 0; step < 10'000; ++step) {
    const std::string name = std::to_string(rng.Below(GetParam() * 100));
    const std::string value(rng.Below(rng.Below(50) == 0 ? 500 : 20), 'v');
    const uint32_t revision = hash.revision();
    if (rng.Below(10) < 6) {
      ASSERT_EQ(hash.Set({name, value}), model.insert_or_assign(name, value).second);
      ASSERT_EQ(hash.Get(name), value);
      ASSERT_NE(hash.revision(), revision);
    } else {
      const bool removed = hash.Remove(name);
      ASSERT_EQ(removed, model.erase(name) == 1);
      ASSERT_EQ(hash.Get(name), std::nullopt);
      ASSERT_EQ(hash.revision() != revision, removed);
    }
    ASSERT_EQ(hash.size(), model.size());
  }
  EXPECT_EQ(FieldsOf(hash), model);
  EXPECT_EQ(FieldsOf(hash.Clone()), model);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HashBesideAMap, testing::Range<uint64_t>(1, 7));

// In the order of the walk.
std::vector<std::string> NamesOf(const Hash& hash) {
  std::vector<std::string> names;
  hash.ForEach([&](const Field& field) { names.emplace_back(field.name); });
  return names;
}

TEST(HashEncoding, AListpackKeepsTheOrderOfItsFieldsToItsLastField) {
  const HashLimits limits = {.listpack_entries = 1000, .listpack_value = 64};
  Hash hash;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) {
    names.push_back(std::to_string(i * 7919 % 1000));
    hash.Set({names.back(), "value"}, limits);
    ASSERT_EQ(hash.encoding(), HashEncoding::kListpack);
  }
  hash.Set({names[500], "another value"}, limits);
  EXPECT_EQ(NamesOf(hash), names);
  EXPECT_EQ(NamesOf(hash.Clone()), names);
  hash.Set({"one more", "value"}, limits);
  EXPECT_EQ(hash.encoding(), HashEncoding::kHashtable);
  EXPECT_EQ(hash.size(), 1001u);
  EXPECT_EQ(hash.Get(names[999]), "value");
}

// No allowed setting makes every change move megabytes.
TEST(HashEncoding, AListpackOfMoreThanAMegabyteBecomesAHashtable) {
  const HashLimits limits = {.listpack_entries = 100'000, .listpack_value = 10'000};
  Hash hash;
  const std::string value(10'000, 'v');
  for (int i = 0; i < 100; ++i) hash.Set({std::to_string(i), value}, limits);
  EXPECT_EQ(hash.encoding(), HashEncoding::kListpack);
  for (int i = 100; i < 110; ++i) hash.Set({std::to_string(i), value}, limits);
  EXPECT_EQ(hash.encoding(), HashEncoding::kHashtable);
  EXPECT_EQ(hash.size(), 110u);
}

TEST(HashEncoding, AListpackIsBoundedInFieldsAndTheirBytes) {
  const HashLimits limits = {.listpack_entries = 2, .listpack_value = 3};
  Hash many, wide, named;
  for (const char* name : {"a", "b", "a"}) many.Set({name, "1"}, limits);
  EXPECT_EQ(many.encoding(), HashEncoding::kListpack);
  many.Set({"c", "1"}, limits);
  EXPECT_EQ(many.encoding(), HashEncoding::kHashtable);
  many.Remove("c");
  EXPECT_EQ(many.Clone().encoding(), HashEncoding::kHashtable);

  wide.Set({"abc", "abc"}, limits);
  EXPECT_EQ(wide.encoding(), HashEncoding::kListpack);
  wide.Set({"abc", "abcd"}, limits);
  EXPECT_EQ(wide.encoding(), HashEncoding::kHashtable);
  named.Set({"abcd", "1"}, limits);
  EXPECT_EQ(named.encoding(), HashEncoding::kHashtable);
}

// A hash compared with a model with deadlines, while time advances.
class DeadlineRun {
 public:
  explicit DeadlineRun(uint64_t seed) : rng_(seed), names_(seed % 2 == 0 ? 60 : 1000) {}

  void Run() {
    for (int step = 0; step < 8000 && !testing::Test::HasFailure(); ++step) {
      Step(std::to_string(rng_.Below(names_)));
      std::optional<Millis> earliest;
      for (const auto& [name, deadline] : deadlines_) {
        if (!earliest || deadline < *earliest) earliest = deadline;
      }
      ASSERT_EQ(hash_.EarliestDeadline(), earliest);
      ASSERT_EQ(hash_.size(), model_.size());
    }
    ExpectSame(hash_);
    ExpectSame(hash_.Clone());
  }

 private:
  std::optional<Millis> DeadlineOf(const std::string& name) const {
    const auto found = deadlines_.find(name);
    return found == deadlines_.end() ? std::nullopt : std::optional(found->second);
  }

  void Step(const std::string& name) {
    switch (rng_.Below(6)) {
      case 0:
        EXPECT_EQ(hash_.Remove(name), model_.erase(name) == 1);
        deadlines_.erase(name);
        break;
      case 1: {
        const bool removes = rng_.Below(3) == 0;
        const auto deadline =
            removes ? std::nullopt : std::optional(now_ + Millis(rng_.Below(5000)));
        const bool changes = model_.contains(name) && DeadlineOf(name) != deadline;
        EXPECT_EQ(hash_.SetDeadline(name, deadline), changes);
        if (!changes) break;
        deadlines_.erase(name);
        if (deadline) deadlines_[name] = *deadline;
        break;
      }
      case 2:
        now_ += Millis(rng_.Below(20));
        RemoveDue(1 + rng_.Below(100));
        break;
      default: {
        const bool keeps = rng_.Below(2) == 0;
        const auto old = keeps ? Hash::OldDeadline::kKeep : Hash::OldDeadline::kRemove;
        EXPECT_EQ(hash_.Set({name, "v"}, HashLimits(), old), model_.emplace(name, "v").second);
        if (!keeps) deadlines_.erase(name);
      }
    }
    ASSERT_EQ(hash_.Deadline(name), DeadlineOf(name));
    ASSERT_EQ(hash_.Contains(name), model_.contains(name));
  }

  void RemoveDue(size_t most) {
    std::vector<std::string> removed;
    hash_.RemoveDue(now_, most, removed);
    EXPECT_LE(removed.size(), most);
    for (const std::string& name : removed) {
      EXPECT_LE(DeadlineOf(name), now_);
      EXPECT_TRUE(deadlines_.erase(name) == 1 && model_.erase(name) == 1);
    }
    if (removed.size() == most) return;
    for (const auto& [name, deadline] : deadlines_) EXPECT_GT(deadline, now_);
  }

  void ExpectSame(const Hash& hash) {
    EXPECT_EQ(FieldsOf(hash), model_);
    for (const auto& [name, value] : model_) ASSERT_EQ(hash.Deadline(name), DeadlineOf(name));
  }

  Rng rng_;
  size_t names_;
  Hash hash_;
  Model model_;
  std::map<std::string, Millis> deadlines_;
  Millis now_{1'790'000'000'000};
};

TEST(Hash, FieldsHaveTheDeadlinesOfTheModel) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    DeadlineRun(seed).Run();
  }
}

TEST(HashEncoding, IsListpackExOnceAFieldHadADeadline) {
  Hash hash;
  hash.Set({"a", "1"});
  EXPECT_EQ(hash.encoding(), HashEncoding::kListpack);
  hash.SetDeadline("a", Millis(1'790'000'000'000));
  EXPECT_EQ(hash.encoding(), HashEncoding::kListpackEx);
  EXPECT_EQ(hash.Clone().encoding(), HashEncoding::kListpackEx);
  hash.SetDeadline("a", std::nullopt);
  hash.Set({"b", "1"});
  EXPECT_EQ(hash.encoding(), HashEncoding::kListpackEx);
  hash.Set({"c", std::string(100, 'x')});
  EXPECT_EQ(hash.encoding(), HashEncoding::kHashtable);
}

}  // namespace
}  // namespace zsetd::hash_test
