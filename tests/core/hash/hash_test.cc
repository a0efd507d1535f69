#include "core/hash/hash.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

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
