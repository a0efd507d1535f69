#include "core/string/bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// Bytes with long runs of equal ones, so that whole words are skipped.
std::string AnyBytes(Rng& rng) {
  std::string bytes;
  for (uint64_t stretches = rng.Below(5); stretches > 0; --stretches) {
    const char kinds[] = {'\0', '\xff', static_cast<char>(rng.Next())};
    bytes.append(rng.Below(30), kinds[rng.Below(3)]);
  }
  return bytes;
}

TEST(Bits, AreCountedAndFoundAsOneByOne) {
  SCOPED_TRACE("seed 1");
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = AnyBytes(rng);
    BitRange range = {rng.Below(8 * bytes.size() + 1), rng.Below(8 * bytes.size() + 1)};
    if (range.first > range.last) std::swap(range.first, range.last);
    const bool bit = rng.Below(2) == 1;
    uint64_t count = 0;
    std::optional<uint64_t> found;
    for (size_t at = range.first; at < range.last; ++at) {
      count += BitAt(bytes, at);
      if (!found && BitAt(bytes, at) == bit) found = at;
    }
    ASSERT_EQ(CountBits(bytes, range), count);
    ASSERT_EQ(FindBit(bytes, bit, range), found);
  }
}

TEST(Bits, AreSetOneByOne) {
  std::string bytes(2, '\0');
  SetBit(bytes, 0, true);
  SetBit(bytes, 15, true);
  EXPECT_EQ(bytes, "\x80\x01");
  SetBit(bytes, 0, false);
  EXPECT_EQ(bytes, std::string("\x00\x01", 2));
  EXPECT_FALSE(BitAt(bytes, 16));
}

bool Expected(BitOperation operation, const std::vector<bool>& bits) {
  const auto others = std::count(bits.begin() + 1, bits.end(), true);
  switch (operation) {
    case BitOperation::kAnd:
      return bits[0] && others + 1 == std::ssize(bits);
    case BitOperation::kOr:
      return bits[0] || others > 0;
    case BitOperation::kXor:
      return (bits[0] + others) % 2 == 1;
    case BitOperation::kNot:
      return !bits[0];
    case BitOperation::kDiff:
      return bits[0] && others == 0;
    case BitOperation::kDiff1:
      return !bits[0] && others > 0;
    case BitOperation::kAndOr:
      return bits[0] && others > 0;
    case BitOperation::kOne:
      return bits[0] + others == 1;
  }
  return false;
}

TEST(Bits, AreCombinedPositionByPosition) {
  SCOPED_TRACE("seed 2");
  Rng rng(2);
  for (int i = 0; i < 500; ++i) {
    const auto operation = static_cast<BitOperation>(rng.Below(8));
    std::vector<std::string> strings(operation == BitOperation::kNot ? 1 : 1 + rng.Below(4));
    for (std::string& string : strings) string = AnyBytes(rng);
    const size_t repeats = i % 100 == 0 ? 200 : 1;  // occasionally longer than one piece
    size_t size = 0;
    for (std::string& string : strings) {
      const std::string once = string;
      for (size_t more = 1; more < repeats; ++more) string += once;
      size = std::max(size, string.size());
    }
    const std::vector<std::string_view> views(strings.begin(), strings.end());
    const std::string result = Combine(operation, views);
    ASSERT_EQ(result.size(), size);
    for (size_t at = 0; at < 8 * size; ++at) {
      std::vector<bool> bits;
      for (const std::string& string : strings) bits.push_back(BitAt(string, at));
      ASSERT_EQ(BitAt(result, at), Expected(operation, bits)) << at;
    }
  }
}

}  // namespace
}  // namespace zsetd
