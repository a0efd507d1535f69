#include "protocol/rdb/packed_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "protocol/text/number_text.h"

namespace zsetd::packed_elements_test {
namespace {

using Elements = std::vector<std::string>;
using Read = bool (*)(std::string_view, const VisitElement&);

// The elements, or nullopt if reading fails.
std::optional<Elements> All(Read read, std::string_view bytes) {
  Elements elements;
  const bool is_sound = read(bytes, [&](std::string_view element) {
    elements.emplace_back(element);
    return true;
  });
  return is_sound ? std::optional(elements) : std::nullopt;
}

std::string Bytes(std::initializer_list<int> bytes) {
  return std::string(bytes.begin(), bytes.end());
}

// Integers of each width and strings around each bound of a length.
std::string AnyElement(std::mt19937_64& rng) {
  constexpr size_t kBounds[] = {0, 1, 62, 63, 64, 127, 128, 4095, 4096, 16383, 20000};
  if (rng() % 2 == 0) return IntegerText(static_cast<int64_t>(rng()) >> rng() % 64);
  std::string element(kBounds[rng() % std::size(kBounds)], '\0');
  for (char& byte : element) byte = static_cast<char>(rng());
  return element;
}

TEST(PackedElements, ListpackReadsBackAsWritten) {
  SCOPED_TRACE("seed 1");
  std::mt19937_64 rng(1);
  ListpackWriter writer;
  for (int i = 0; i < 500; ++i) {
    Elements elements(rng() % 20);
    std::ranges::generate(elements, [&] { return AnyElement(rng); });
    for (const std::string& element : elements) writer.Add(element);
    ASSERT_EQ(All(ReadListpack, writer.Finish()), elements);
    ASSERT_TRUE(writer.empty());
  }
}

// As written by redis-server 7.0.15 for RPUSH k 1 a -5 70000.
TEST(PackedElements, ListpackEqualsRediss) {
  ListpackWriter writer;
  for (const char* element : {"1", "a", "-5", "70000"}) writer.Add(element);
  EXPECT_EQ(writer.Finish(), Bytes({0x14, 0,    0,    0,    4,    0,    0x01, 0x01, 0x81, 'a',
                                    0x02, 0xdf, 0xfb, 0x02, 0xf2, 0x70, 0x11, 0x01, 0x04, 0xff}));
}

TEST(PackedElements, IntsetReadsBackAsWritten) {
  for (const int64_t large : {int64_t{7}, int64_t{40'000}, int64_t{1} << 40}) {
    const std::vector<int64_t> integers = {-5, 0, large};
    const Elements texts = {"-5", "0", IntegerText(large)};
    EXPECT_EQ(All(ReadIntset, MakeIntset(integers)), texts);
  }
  const std::vector<int64_t> out_of_order = {5, 3};
  EXPECT_EQ(All(ReadIntset, MakeIntset(out_of_order)), std::nullopt);
}

// From Redis's source, ziplist.c: the list "2", "5"; then one of each other encoding.
TEST(PackedElements, ZiplistIsRead) {
  EXPECT_EQ(All(ReadZiplist, Bytes({0x0f, 0, 0, 0, 0x0c, 0, 0, 0, 2, 0, 0, 0xf3, 2, 0xf6, 0xff})),
            (Elements{"2", "5"}));
  const std::string others =
      Bytes({0, 0x02, 'h',  'i', 4, 0xfe, 0x80, 3, 0xc0, 0xff, 0x7f, 4,   0xf0,
             0, 0,    0x80, 254, 5, 0,    0,    0, 0xd0, 0,    0,    0,   0x80,
             6, 0x40, 1,    'x', 4, 0x80, 0,    0, 0,    1,    'y',  0xff});
  std::string ziplist = Bytes({static_cast<int>(others.size()) + 10, 0, 0, 0, 0, 0, 0, 0, 7, 0});
  ziplist += others;
  EXPECT_EQ(All(ReadZiplist, ziplist),
            (Elements{"hi", "-128", "32767", "-8388608", "-2147483648", "x", "y"}));
}

TEST(PackedElements, ZipmapIsRead) {
  EXPECT_EQ(All(ReadZipmap, Bytes({2,   3,   'f', 'o', 'o', 3, 0, 'b', 'a', 'r', 1,
                                   'k', 254, 1,   0,   0,   0, 2, 'v', '?', '?', 0xff})),
            (Elements{"foo", "bar", "k", "v"}));
}

// Arbitrary bytes: an address sanitizer reports it if they lead past the end.
TEST(PackedElements, DamageIsNeverReadBeyondItsEnd) {
  SCOPED_TRACE("seed 2");
  std::mt19937_64 rng(2);
  ListpackWriter writer;
  for (int i = 0; i < 20; ++i) writer.Add(i % 2 ? "member" : IntegerText(i * 1000));
  const std::vector<int64_t> integers = {-70000, 1, 2, 3, 400};
  const std::string sound[] = {writer.Finish(), MakeIntset(integers),
                               Bytes({0x0f, 0, 0, 0, 0x0c, 0, 0, 0, 2, 0, 0, 0xf3, 2, 0xf6, 0xff}),
                               Bytes({1, 3, 'f', 'o', 'o', 3, 0, 'b', 'a', 'r', 0xff})};
  for (int i = 0; i < 50000; ++i) {
    std::string bytes = sound[rng() % std::size(sound)];
    for (uint64_t flips = rng() % 4; flips > 0; --flips) {
      bytes[rng() % bytes.size()] = static_cast<char>(rng());
    }
    if (rng() % 4 == 0) bytes.resize(rng() % bytes.size());
    const std::string exact(bytes.begin(), bytes.end());  // without spare room
    for (const Read read : {ReadListpack, ReadIntset, ReadZiplist, ReadZipmap}) {
      const auto elements = All(read, exact);
      ASSERT_LE(elements.value_or(Elements()).size(), exact.size());
    }
  }
}

}  // namespace
}  // namespace zsetd::packed_elements_test
