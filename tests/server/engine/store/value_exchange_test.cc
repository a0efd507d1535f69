// Values that are written and read again, in the format of DUMP and RESTORE.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/store/rdb_value_reader.h"
#include "server/engine/store/rdb_value_writer.h"
#include "tests/support/steps.h"

namespace zsetd::value_exchange_test {
namespace {

constexpr size_t kMostStringBytes = 1u << 20;

std::string Written(const Entry& entry) {
  std::string bytes;
  RdbWriter writer(bytes);
  writer.Type(RdbTypeOf(entry));
  WriteValue(entry, writer);
  return bytes;
}

std::unique_ptr<Entry> Read(std::string_view bytes) {
  RdbReader reader(bytes, kMostStringBytes);
  const auto type = static_cast<RdbType>(reader.Byte());
  auto entry = ReadValue(reader, type, "key", std::nullopt, Millis(0), ValueLimits());
  return reader.AtEnd() ? std::move(entry) : nullptr;
}

// Some are integers, some are long, some are long and repetitive.
std::string AnyText(std::mt19937_64& rng) {
  if (rng() % 3 == 0) return IntegerText(static_cast<int64_t>(rng()) >> rng() % 64);
  std::string text(rng() % (rng() % 20 == 0 ? 20'000 : 30), 'x');
  if (rng() % 2 == 0) {
    for (char& byte : text) byte = static_cast<char>(rng());
  }
  return text;
}

std::string AnyInteger(std::mt19937_64& rng) {
  return IntegerText(static_cast<int64_t>(rng() % 90'000));
}

size_t AnySize(std::mt19937_64& rng) { return 1 + rng() % (rng() % 5 == 0 ? 600 : 30); }

List AnyList(std::mt19937_64& rng) {
  List list;
  for (size_t left = AnySize(rng); left > 0; --left) list.PushBack(AnyText(rng));
  list.Expect(0, 0, ListLimits());
  return list;
}

Hash AnyHash(std::mt19937_64& rng) {
  Hash hash;
  const std::string value = AnyText(rng);
  for (size_t left = AnySize(rng); left > 0; --left) {
    hash.Set({.name = AnyText(rng), .value = value});
  }
  return hash;
}

Set SetOf(std::mt19937_64& rng, std::string (*any)(std::mt19937_64&)) {
  Set set;
  for (size_t left = AnySize(rng); left > 0; --left) set.Add(any(rng));
  return set;
}

SortedSet AnySortedSet(std::mt19937_64& rng) {
  SortedSet set;
  for (size_t left = AnySize(rng); left > 0; --left) {
    set.Set(AnyText(rng), static_cast<double>(static_cast<int64_t>(rng())) / 1024);
  }
  set.Expect(set.size(), set.longest_member(), SortedSetLimits());
  return set;
}

Stream AnyStream(std::mt19937_64& rng) {
  Stream stream;
  for (uint64_t ms = 1; ms <= AnySize(rng); ++ms) {
    const std::string values[] = {AnyText(rng), AnyText(rng)};
    const std::string_view fields[] = {"name", values[0], rng() % 9 == 0 ? "x" : "y", values[1]};
    stream.Append({ms, rng() % 3}, fields, StreamLimits());
  }
  return stream;
}

std::unique_ptr<Entry> AnyEntry(std::mt19937_64& rng) {
  switch (rng() % 7) {
    case 6:
      return Entry::Make("key", AnyStream(rng));
    case 0:
      return Entry::Make("key", ByteString(AnyText(rng)));
    case 1:
      return Entry::Make("key", AnyList(rng));
    case 2:
      return Entry::Make("key", AnyHash(rng));
    case 3:
      return Entry::Make("key", SetOf(rng, AnyText));
    case 4:
      return Entry::Make("key", SetOf(rng, AnyInteger));
    default:
      return Entry::Make("key", AnySortedSet(rng));
  }
}

void ExpectSame(const ByteString& a, const ByteString& b) { ASSERT_EQ(a.view(), b.view()); }

void ExpectSame(const List& a, const List& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.At(i), b.At(i));
}

void ExpectSame(const Hash& a, const Hash& b) {
  ASSERT_EQ(a.size(), b.size());
  a.ForEach([&](const Field& field) { ASSERT_EQ(b.Get(field.name), field.value); });
}

void ExpectSame(const Set& a, const Set& b) {
  ASSERT_EQ(a.size(), b.size());
  a.ForEach([&](std::string_view member) { ASSERT_TRUE(b.Contains(member)); });
}

void ExpectSame(const SortedSet& a, const SortedSet& b) {
  ASSERT_EQ(a.size(), b.size());
  for (auto at = a.At(0); at.valid(); at.Next()) {
    ASSERT_EQ(b.Score(at.element().member), at.element().score);
  }
}

void ExpectSame(const Stream& a, const Stream& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.state(), b.state());
  Stream::Cursor at(b, kFirstStreamId, Stream::Cursor::kForward);
  for (Stream::Cursor from(a, kFirstStreamId, Stream::Cursor::kForward); from.valid();
       from.Next(), at.Next()) {
    ASSERT_EQ(from.id(), at.id());
    ASSERT_EQ(from.entry().field_count, at.entry().field_count);
  }
}

TEST(ValueExchange, ValuesReadBackAsWritten) {
  SCOPED_TRACE("seed 1");
  std::mt19937_64 rng(1);
  for (int i = 0; i < 1000; ++i) {
    const std::unique_ptr<Entry> entry = AnyEntry(rng);
    const std::unique_ptr<Entry> read = Read(Written(*entry));
    ASSERT_NE(read, nullptr) << entry->TypeName();
    entry->VisitValue([&]<class T>(const T& value) {
      const auto other = read->GetIf<T>();
      ASSERT_TRUE(other);
      ExpectSame(value, *other);
    });
  }
}

// Under a sanitizer this tests every length and every count in the format. Damaged bytes that are
// still accepted must be a complete value, no larger than the bytes can describe.
TEST(ValueExchange, DamageIsRefusedOrReadAsAWholeValue) {
  SCOPED_TRACE("seed 2");
  std::mt19937_64 rng(2);
  int refused = 0;
  for (int i = 0; i < Steps(400); ++i) {
    const std::string bytes = Written(*AnyEntry(rng));
    for (int damage = 0; damage < 50; ++damage) {
      std::string damaged = bytes;
      const size_t reach = rng() % 2 == 0 ? std::min<size_t>(bytes.size(), 16) : bytes.size();
      for (uint64_t flips = 1 + rng() % 3; flips > 0; --flips) {
        damaged[rng() % reach] ^= static_cast<char>(1 + rng() % 255);
      }
      if (rng() % 4 == 0) damaged.resize(rng() % damaged.size());
      const std::string exact(damaged.begin(), damaged.end());
      const std::unique_ptr<Entry> read = Read(exact);
      refused += read == nullptr;
      ASSERT_FALSE(read != nullptr && read->IsEmptyAggregate());
    }
  }
  EXPECT_GT(refused, Steps(1000));
}

TEST(ValueExchange, DuplicateElementsAreRefused) {
  const std::string_view twice[] = {
      std::string_view("\x02\x02\x01"
                       "a\x01"
                       "a",
                       6),  // a set
      std::string_view("\x04\x02\x01"
                       "a\x01"
                       "b\x01"
                       "a\x01"
                       "c",
                       10),  // a hash
      std::string_view("\x03\x02\x01"
                       "a\x01"
                       "1\x01"
                       "a\x01"
                       "2",
                       10),  // an old sorted set
  };
  for (const std::string_view bytes : twice) EXPECT_EQ(Read(bytes), nullptr);
}

TEST(ValueExchange, OldFormatsAreRead) {
  const auto sorted_set =
      Read(std::string_view("\x03\x02\x01"
                            "a\x03"
                            "1.5\x01"
                            "b\xff",
                            11));
  ASSERT_NE(sorted_set, nullptr);
  EXPECT_EQ(sorted_set->GetIf<SortedSet>()->Score("a"), 1.5);
  EXPECT_EQ(sorted_set->GetIf<SortedSet>()->Rank("b"), 0u);
  const auto list =
      Read(std::string_view("\x01\x02\x01"
                            "a\xc0\x07",
                            6));
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->GetIf<List>()->At(1), "7");
  const auto hash =
      Read(std::string_view("\x09\x0b\x01\x03"
                            "foo\x03\x00"
                            "bar\xff",
                            13));
  ASSERT_NE(hash, nullptr);
  EXPECT_EQ(hash->GetIf<Hash>()->Get("foo"), "bar");
  EXPECT_EQ(Read(std::string_view("\x03\x01\x01"
                                  "a\xfd",
                                  5)),
            nullptr);                                         // not a number
  EXPECT_EQ(Read(std::string_view("\x01\x00", 2)), nullptr);  // no elements
  EXPECT_EQ(Read(std::string_view("\x0f\x00", 2)), nullptr);  // a stream
  EXPECT_EQ(Read(""), nullptr);
}

}  // namespace
}  // namespace zsetd::value_exchange_test
