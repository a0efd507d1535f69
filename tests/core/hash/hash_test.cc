#include "core/hash/hash.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

using Model = std::map<std::string, std::string>;

Model FieldsOf(const Hash& hash) {
  Model fields;
  hash.ForEach([&](const Field& field) { fields.emplace(field.name, field.value); });
  return fields;
}

class HashBesideAMap : public testing::TestWithParam<uint64_t> {};

TEST_P(HashBesideAMap, HoldsTheSame) {
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

// What settings allow must not make every change move megabytes.
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

}  // namespace
}  // namespace zsetd
