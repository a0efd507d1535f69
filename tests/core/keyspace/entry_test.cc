#include "core/keyspace/entry.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/keyspace/value.h"
#include "core/util/rng.h"

namespace zsetd::entry_test {
namespace {

ByteString StringIn(const Entry& entry) { return *entry.GetIf<ByteString>(); }

std::string RandomBytes(Rng& rng, size_t length) {
  std::string bytes(length, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.Below(256));
  return bytes;
}

// Lengths around each one at which the layout changes.
std::vector<size_t> KeyLengths() {
  return {0, 1, 14, 15, 16, 17, 125, 126, 127, 128, 255, 256, 65'536};
}
std::vector<size_t> ValueLengths() {
  return {0, 1, 15, 16, 17, 18, 31, 32, 33, 239, 240, 241, 242, 255, 256, 1'000, 65'536};
}

Set PlainSetOf(std::string_view member) {
  Set set;
  set.Add(member);
  return set;
}

Hash HashOf(std::string_view name) {
  Hash hash;
  hash.Set({.name = name, .value = "value"});
  return hash;
}

SortedSet SetOf(std::string_view member) {
  SortedSet set;
  set.Set(member, 1);
  return set;
}

List ListOf(std::string_view element) {
  List list;
  list.PushBack(element);
  return list;
}

TEST(Entry, HoldsKeysAndStringsOfAnyLength) {
  Rng rng(1);
  for (const size_t key_length : KeyLengths()) {
    for (const size_t length : ValueLengths()) {
      SCOPED_TRACE(testing::Message() << key_length << " " << length);
      const std::string key = RandomBytes(rng, key_length);
      const std::string value = RandomBytes(rng, length);
      for (const auto deadline : {std::optional<Millis>(), std::optional(Millis(7))}) {
        const auto entry = Entry::Make(key, ByteString(value), deadline);
        EXPECT_EQ(entry->key(), key);
        EXPECT_EQ(StringIn(*entry).view(), value);
        EXPECT_FALSE(StringIn(*entry).edited_in_place());
        EXPECT_EQ(entry->deadline(), deadline);
        EXPECT_GE(entry->BytesUsed(), key_length + length);
      }
    }
  }
}

TEST(Entry, StoresAggregatesNextToKeysOfAnyLength) {
  Rng rng(2);
  for (const size_t key_length : KeyLengths()) {
    const std::string key = RandomBytes(rng, key_length);
    const auto list = Entry::Make(key, ListOf("element"));
    const auto set = Entry::Make(key, SetOf("member"));
    const auto plain = Entry::Make(key, PlainSetOf("member"), Millis(7));
    EXPECT_EQ(list->key(), key);
    EXPECT_EQ(set->key(), key);
    const auto hash = Entry::Make(key, HashOf("name"), Millis(7));
    EXPECT_EQ(hash->key(), key);
    EXPECT_EQ(hash->TypeName(), "hash");
    EXPECT_EQ(hash->GetIf<Hash>()->Get("name"), "value");
    EXPECT_EQ(hash->Copy("x")->GetIf<Hash>()->Get("name"), "value");
    EXPECT_EQ(plain->key(), key);
    EXPECT_EQ(plain->TypeName(), "set");
    EXPECT_EQ(list->GetIf<List>()->At(0), "element");
    EXPECT_TRUE(plain->GetIf<Set>()->Contains("member"));
    EXPECT_TRUE(plain->Copy("x")->GetIf<Set>()->Contains("member"));
    EXPECT_EQ(set->GetIf<SortedSet>()->Score("member"), 1);
  }
}

TEST(Entry, IsOfOneType) {
  const auto string = Entry::Make("k", ByteString("v"));
  const auto list = Entry::Make("k", List());
  const auto set = Entry::Make("k", SetOf("m"));
  EXPECT_EQ(string->TypeName(), "string");
  EXPECT_EQ(list->TypeName(), "list");
  EXPECT_EQ(set->TypeName(), "zset");
  EXPECT_TRUE(string->Holds<ByteString>());
  EXPECT_FALSE(list->Holds<ByteString>());
  EXPECT_EQ(list->GetIf<ByteString>(), std::nullopt);
  EXPECT_EQ(string->GetIf<List>(), nullptr);
  EXPECT_EQ(list->GetIf<SortedSet>(), nullptr);
  EXPECT_TRUE(list->IsEmptyAggregate());
  EXPECT_FALSE(set->IsEmptyAggregate());
  EXPECT_FALSE(Entry::Make("k", ByteString(""))->IsEmptyAggregate());
}

// The allocator may add a word of its own to each request.
constexpr size_t kWord = 8;

TEST(Entry, AShortKeyAndValueTakeFortyEightBytes) {
  const std::string_view key = "msg:0123456789";
  const ByteString value("eighteen bytes now");
  EXPECT_LE(Entry::Make(key, value)->BytesUsed(), 48 + kWord);
  EXPECT_LE(Entry::Make(key, value, Millis(1))->BytesUsed(), 48 + kWord);
}

TEST(Entry, OnlyAKeyWithADeadlineStoresOne) {
  EXPECT_LE(Entry::Make("key:1234", ByteString("thirteen byte"))->BytesUsed(), 32 + kWord);
}

// Deadlines on either side of the limit from which they share their bytes with the mark.
std::vector<std::optional<Millis>> ExpiryIndex() {
  constexpr int64_t kFirstFar = (int64_t{1} << 44) - 1;
  return {std::nullopt,
          Millis(0),
          Millis(1'800'000'000'000),
          Millis(kFirstFar - 1),
          Millis(kFirstFar),
          Millis(1LL << 44),
          Millis(-1),
          Millis::max()};
}

TEST(Entry, KeepsDeadlineAndMarkApart) {
  for (const size_t key_length : KeyLengths()) {
    for (const size_t length : ValueLengths()) {
      for (const auto deadline : ExpiryIndex()) {
        const std::string key(key_length, 'k');
        const std::string value(length, 'v');
        auto entry = Entry::Make(key, ByteString(value), deadline);
        EXPECT_EQ(entry->access_stamp(), 0u);
        for (const uint32_t mark : {0xffffffu, 0x123456u}) {
          entry->set_access_stamp(mark);
          ASSERT_EQ(entry->access_stamp(), mark);
          ASSERT_EQ(entry->deadline(), deadline);
        }
        entry = Entry::Remade(std::move(entry), "k" + key, deadline);
        EXPECT_EQ(entry->access_stamp(), 0x123456u);
        EXPECT_EQ(entry->deadline(), deadline);
        EXPECT_EQ(StringIn(*entry).view(), value);
        EXPECT_EQ(entry->key(), "k" + key);
      }
    }
  }
}

TEST(Entry, KeepsMarksOfAggregatesApartFromTheirElements) {
  for (const auto deadline : ExpiryIndex()) {
    const auto set = Entry::Make("set", SetOf("m"), deadline);
    const auto list = Entry::Make("list", ListOf("e"), deadline);
    set->set_access_stamp(0xabcdef);
    list->set_access_stamp(0xabcdef);
    EXPECT_EQ(set->GetIf<SortedSet>()->Score("m"), 1);
    EXPECT_EQ(list->GetIf<List>()->At(0), "e");
    EXPECT_EQ(set->access_stamp(), 0xabcdefu);
    EXPECT_EQ(set->Copy("copy")->access_stamp(), 0u);
  }
}

// Each string replaces the previous one, in place if possible.
TEST(Entry, AssignsStringsOfEqualAllocationInPlace) {
  const uint64_t seed = 3;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (const size_t key_length : KeyLengths()) {
    const std::string key = RandomBytes(rng, key_length);
    std::string expected = "start";
    auto entry = Entry::Make(key, ByteString(expected));
    int in_place = 0;
    for (int step = 0; step < 2'000; ++step) {
      const std::string value = RandomBytes(rng, rng.Below(step % 2 == 0 ? 300 : 20));
      if (entry->AssignInPlace(ByteString(value))) {
        expected = value;
        ++in_place;
      } else if (rng.Below(2) == 0) {
        expected = value;
        entry = Entry::Make(key, ByteString(expected));
      }
      ASSERT_EQ(entry->key(), key);
      ASSERT_EQ(StringIn(*entry).view(), expected);
    }
    EXPECT_GT(in_place, 100);
  }
}

TEST(Entry, CountsInPlaceWhileTheDigitsFit) {
  const auto entry = Entry::Make("counter", ByteString("10"));
  EXPECT_TRUE(entry->AssignInPlace(ByteString("999999999")));
  EXPECT_FALSE(entry->AssignInPlace(ByteString("1000000000"))) << "16 + 7 + 10 bytes";
  EXPECT_EQ(StringIn(*entry).view(), "999999999");
}

TEST(Entry, OnlyShortStringsAreAssignedInPlace) {
  const ByteString y("y");
  EXPECT_FALSE(Entry::Make("k", ByteString(std::string(300, 'x')))->AssignInPlace(y));
  EXPECT_FALSE(Entry::Make("k", ByteString("x", true))->AssignInPlace(y));
  EXPECT_FALSE(Entry::Make("k", List())->AssignInPlace(y));
  const auto entry = Entry::Make("k", ByteString("x"));
  EXPECT_FALSE(entry->AssignInPlace(ByteString(std::string(1'000, 'y'))));
  EXPECT_FALSE(entry->AssignInPlace(ByteString("y", true)));
  EXPECT_EQ(StringIn(*entry).view(), "x");
}

TEST(Entry, LongStringsCanBeEdited) {
  EXPECT_EQ(Entry::Make("k", ByteString("short"))->StartEditing(), nullptr);
  EXPECT_EQ(Entry::Make("k", List())->StartEditing(), nullptr);
  const auto entry = Entry::Make("k", ByteString(std::string(300, 'x')));
  ASSERT_NE(entry->StartEditing(), nullptr);
  entry->StartEditing()->append("y");
  EXPECT_TRUE(StringIn(*entry).edited_in_place());
  EXPECT_EQ(StringIn(*entry).view(), std::string(300, 'x') + "y");
}

TEST(Entry, StringsMoveToAnotherKey) {
  for (const size_t length : ValueLengths()) {
    const std::string text(length, 't');
    for (const bool edited : {false, true}) {
      auto from = Entry::Make("from", ByteString(text, edited), Millis(1));
      const auto copy = from->Copy("another");
      const auto moved = Entry::Remade(std::move(from), "a third", Millis(2));
      EXPECT_EQ(copy->key(), "another");
      EXPECT_EQ(moved->key(), "a third");
      EXPECT_EQ(copy->deadline(), Millis(1));
      EXPECT_EQ(moved->deadline(), Millis(2));
      for (const Entry* entry : {copy.get(), moved.get()}) {
        EXPECT_EQ(StringIn(*entry).view(), text);
        EXPECT_EQ(StringIn(*entry).edited_in_place(), edited);
      }
    }
  }
}

TEST(Entry, AggregatesMoveToAnotherKey) {
  auto list = Entry::Make("list", ListOf("e"));
  auto set = Entry::Make("set", SetOf("m"));
  EXPECT_EQ(list->Copy("x")->GetIf<List>()->At(0), "e");
  EXPECT_EQ(set->Copy("x")->GetIf<SortedSet>()->size(), 1u);
  EXPECT_EQ(list->GetIf<List>()->size(), 1u);
  EXPECT_EQ(set->GetIf<SortedSet>()->size(), 1u);
  EXPECT_EQ(Entry::Remade(std::move(list), "x", {})->GetIf<List>()->At(0), "e");
  EXPECT_EQ(Entry::Remade(std::move(set), "x", {})->GetIf<SortedSet>()->size(), 1u);
}

TEST(Entry, IsHeavyIfFreeingItIsSlow) {
  EXPECT_FALSE(Entry::Make("k", ByteString("v"))->IsHeavy());
  EXPECT_FALSE(Entry::Make("k", SetOf("m"))->IsHeavy());
  EXPECT_TRUE(Entry::Make("k", ByteString(std::string(2 << 20, 'x')))->IsHeavy());
}

}  // namespace
}  // namespace zsetd::entry_test
