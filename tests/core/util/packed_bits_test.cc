#include "core/util/packed_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd::packed_bits_test {
namespace {

constexpr size_t kFront = 8;  // bytes

// Random bytes: the eight before an array, and the array. No bytes follow the array.
std::vector<char> RandomBytes(size_t array_bytes, Rng& rng) {
  std::vector<char> bytes(kFront + array_bytes);
  for (char& byte : bytes) byte = static_cast<char>(rng.Next());
  return bytes;
}

bool BitAt(const std::vector<char>& bytes, size_t bit) {
  return (bytes[kFront + bit / 8] >> bit % 8 & 1) != 0;
}

// The front and the bits before `end`.
void ExpectSame(const std::vector<char>& bytes, const std::vector<char>& expected, size_t end) {
  ASSERT_TRUE(std::equal(bytes.begin(), bytes.begin() + kFront, expected.begin()));
  for (size_t bit = 0; bit < end; ++bit) ASSERT_EQ(BitAt(bytes, bit), BitAt(expected, bit)) << bit;
}

void SetBit(std::vector<char>& bytes, size_t bit, bool to) {
  const int mask = 1 << bit % 8;
  char& byte = bytes[kFront + bit / 8];
  byte = static_cast<char>(to ? byte | mask : byte & ~mask);
}

TEST(PackedBits, StoreChangesOnlyItsBits) {
  Rng rng(1);
  for (int round = 0; round < 20'000; ++round) {
    const int bits = 1 + static_cast<int>(rng.Below(kMostPackedBits));
    const size_t first = rng.Below(100), array_bytes = (first + bits + 7) / 8 + rng.Below(3);
    std::vector<char> bytes = RandomBytes(array_bytes, rng), expected = bytes;
    const uint64_t value = rng.Next() & LowestBits(bits);
    StoreBits(bytes.data() + kFront, first, bits, value);
    ASSERT_EQ(LoadBits(bytes.data() + kFront, first, bits), value);
    for (int bit = 0; bit < bits; ++bit) SetBit(expected, first + bit, value >> bit & 1);
    ASSERT_EQ(bytes, expected) << bits << " bits at " << first;
  }
}

TEST(PackedBits, MoveChangesOnlyTheRange) {
  Rng rng(2);
  for (int round = 0; round < 20'000; ++round) {
    const size_t from = rng.Below(300), count = rng.Below(600);
    const size_t to = rng.Below(2) == 0 ? rng.Below(300) : from / 2 + rng.Below(60);
    const size_t array_bytes = (std::max(from, to) + count + 7) / 8;
    std::vector<char> bytes = RandomBytes(array_bytes, rng), expected = bytes;
    for (size_t bit = 0; bit < count; ++bit) {
      SetBit(expected, to + bit, BitAt(bytes, from + bit));
    }
    MoveBits(bytes.data() + kFront, from, to, count);
    SCOPED_TRACE(std::to_string(count) + " bits from " + std::to_string(from) + " to " +
                 std::to_string(to));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(bytes, expected, to + count));
    const size_t next_byte = (to + count + 7) / 8;  // from here on these bits do not change either
    ASSERT_TRUE(std::equal(bytes.begin() + kFront + next_byte, bytes.end(),
                           expected.begin() + kFront + next_byte));
  }
}

TEST(PackedBits, WriterWritesWhatLoadReads) {
  Rng rng(3);
  for (int round = 0; round < 2000; ++round) {
    const int widest = 1 + static_cast<int>(rng.Below(kMostPackedBits));
    std::vector<std::pair<uint64_t, int>> values(rng.Below(100));
    size_t end = 0;
    for (auto& [value, bits] : values) {
      bits = rng.Below(2) == 0 ? widest : 1 + static_cast<int>(rng.Below(widest));
      value = rng.Next() & LowestBits(bits);
      end += bits;
    }
    std::vector<char> bytes = RandomBytes((end + 7) / 8, rng);
    const std::vector<char> front(bytes.begin(), bytes.begin() + kFront);
    {
      BitWriter writer(bytes.data() + kFront);
      for (const auto& [value, bits] : values) writer.Write(value, bits);
    }
    ASSERT_TRUE(std::equal(front.begin(), front.end(), bytes.begin()));
    size_t first = 0;
    for (const auto& [value, bits] : values) {
      ASSERT_EQ(LoadBits(bytes.data() + kFront, first, bits), value) << bits << " at " << first;
      first += bits;
    }
    for (; first % 8 != 0; ++first) ASSERT_FALSE(BitAt(bytes, first));
  }
}

}  // namespace
}  // namespace zsetd::packed_bits_test
