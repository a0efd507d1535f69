#include "core/hash/field_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/util/rng.h"

namespace zsetd::field_table_test {
namespace {

using Model = std::map<std::string, std::string, std::less<>>;

Model Contents(const FieldTable& table) {
  Model fields;
  table.ForEach([&](const Field& field) { fields.emplace(field.name, field.value); });
  return fields;
}

void ExpectHolds(const FieldTable& table, const Model& model) {
  ASSERT_EQ(table.size(), model.size());
  ASSERT_EQ(Contents(table), model);
}

// Mostly short; some have marks of two and three bytes.
std::string AnyText(Rng& rng, size_t kinds) {
  const size_t lengths[] = {rng.Below(4), rng.Below(4), 62 + rng.Below(4), 126 + rng.Below(4),
                            8'100 + rng.Below(200)};
  const size_t length = lengths[rng.Below(kinds)];
  return std::string(length, static_cast<char>('a' + rng.Below(5)));
}

class FieldTableBesideAMap : public testing::TestWithParam<uint64_t> {
 protected:
  // Names of one to four bytes, and some longer ones: about 700, or only short ones if the table
  // must stay small.
  std::string AnyName() { return AnyText(rng, 4) + std::to_string(rng.Below(names)); }

  void Step() {
    const std::string name = AnyName();
    if (rng.Below(100) < growth) {
      const std::string value = AnyText(rng, rng.Below(20) == 0 ? 5 : 3);
      ASSERT_EQ(table.Set({name, value}), model.insert_or_assign(name, value).second);
    } else {
      ASSERT_EQ(table.Erase(name), model.erase(name) == 1);
    }
    const std::string other = AnyName();
    const auto found = model.find(other);
    const std::optional<Field> field = table.Find(other);
    ASSERT_EQ(field.has_value(), found != model.end());
    if (field) {
      ASSERT_EQ(field->value, found->second);
    }
  }

  Rng rng{GetParam()};
  FieldTable table;
  Model model;
  size_t names = 1;
  size_t growth = 50;
};

TEST_P(FieldTableBesideAMap, HoldsTheSameFields) {
  SCOPED_TRACE(GetParam());
  names = GetParam() % 2 == 0 ? 2 : 400;
  for (int step = 0; step < 10'000; ++step) {
    growth = step / 1'000 % 2 == 0 ? 70 : 20;
    ASSERT_NO_FATAL_FAILURE(Step());
    if (step % 100 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(table, model));
  }
  ExpectHolds(table.Clone(), model);
  FieldTable taken = std::move(table);
  ExpectHolds(taken, model);
  while (!model.empty()) {
    ASSERT_TRUE(taken.Erase(model.begin()->first));
    model.erase(model.begin());
  }
  ExpectHolds(taken, model);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FieldTableBesideAMap, testing::Range<uint64_t>(1, 9));

FieldTable TableOf(size_t size) {
  FieldTable table;
  for (size_t i = 0; i < size; ++i) table.Insert({.name = std::to_string(i), .value = "v"});
  return table;
}

TEST(FieldTable, ASmallTableKeepsTheOrderOfInsertion) {
  FieldTable table;
  for (const char* name : {"c", "a", "b"}) table.Set({name, "1"});
  table.Set({"a", "another value"});
  std::string names;
  table.ForEach([&](const Field& field) { names += field.name; });
  EXPECT_EQ(names, "cab");
}

TEST(FieldTable, AScanOfASmallTableReturnsAllFields) {
  const FieldTable table = TableOf(FieldTable::kMostPacked);
  size_t told = 0;
  EXPECT_EQ(table.Scan(12'345, [&](const Field&) { ++told; }), 0u);
  EXPECT_EQ(told, table.size());
}

// Half of the fields are added and removed; the scan visits the other half in any case.
TEST(FieldTable, AScanReturnsAllFieldsThatStay) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  FieldTable table = TableOf(2'000);
  std::set<std::string, std::less<>> told;
  uint64_t cursor = 0;
  do {
    cursor = table.Scan(cursor, [&](const Field& field) { told.emplace(field.name); });
    for (int i = 0; i < 3; ++i) {
      const std::string name = std::to_string(rng.Below(3'000) * 2 + 1);
      if (!table.Erase(name)) table.Insert({.name = name, .value = ""});
    }
  } while (cursor != 0);
  for (size_t i = 0; i < 2'000; i += 2) EXPECT_TRUE(told.contains(std::to_string(i)));
}

TEST(FieldTable, ASampleHasDifferentFields) {
  Rng rng(7);
  for (const size_t size : {1, 10, 128, 129, 1'000}) {
    const FieldTable table = TableOf(size);
    for (const size_t count : {size_t{0}, size_t{1}, size / 5, size / 2, size, size + 1}) {
      std::set<std::string_view> names;
      for (const Field& field : table.Sample(count, rng)) names.insert(field.name);
      EXPECT_EQ(names.size(), std::min(count, size));
    }
  }
}

// Each of n fields is drawn with probability k/n: 2,000 times that, within six standard deviations.
TEST(FieldTable, ASampleIsFair) {
  Rng rng(8);
  for (const size_t size : {20, 200}) {
    const FieldTable table = TableOf(size);
    std::map<std::string_view, size_t> drawn;
    const size_t rounds = 2'000 * size / 10;
    for (size_t i = 0; i < rounds; ++i) {
      for (const Field& field : table.Sample(10, rng)) ++drawn[field.name];
    }
    EXPECT_EQ(drawn.size(), size);
    for (const auto& [name, times] : drawn) EXPECT_NEAR(times, 2'000, 270) << name;
  }
}

// The allocator may add a word of its own to each request.
constexpr size_t kWord = 8;

TEST(FieldTable, AFewFieldsTakeLittleMoreThanTheirBytes) {
  FieldTable table;
  for (const char* name : {"name", "mail", "city", "born"}) table.Set({name, "0123456789"});
  EXPECT_LE(table.BytesUsed(), 96 + kWord);
}

TEST(FieldTable, AMemberOfALargeTableTakesOneAllocation) {
  FieldTable table;
  for (size_t i = 0; i < 10'000; ++i) {
    table.Insert({.name = "member:" + std::to_string(100'000 + i), .value = ""});
  }
  EXPECT_LE(table.BytesUsed() / 10'000, 40 + kWord);
}

TEST(FieldTable, MemoryFollowsRemovals) {
  FieldTable table = TableOf(100);
  for (size_t i = 1; i < 100; ++i) table.Erase(std::to_string(i));
  EXPECT_LE(table.BytesUsed(), 32 + kWord);
  table.Erase("0");
  EXPECT_EQ(table.BytesUsed(), 0u);

  FieldTable large = TableOf(10'000);
  for (size_t i = 0; i < 10'000; ++i) large.Erase(std::to_string(i));
  EXPECT_LE(large.BytesUsed(), 5'000u);
}

}  // namespace
}  // namespace zsetd::field_table_test
