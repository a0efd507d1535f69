#include "core/hashing/key_slot.h"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <string>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// The checksum of the specification of Redis Cluster.
TEST(KeySlot, ReproducesTheSpecifiedChecksum) { EXPECT_EQ(KeySlot("123456789"), 0x31c3 % 16384); }

TEST(KeySlot, AgreesWithBoostForEveryLength) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (size_t length = 0; length < 200; ++length) {
    std::string key(length, '\0');
    for (char& byte : key) byte = static_cast<char>(rng.Below(256));
    for (char& byte : key) byte = byte == '{' ? '(' : byte;
    boost::crc_optimal<16, 0x1021, 0, 0, false, false> crc;
    crc.process_bytes(key.data(), key.size());
    ASSERT_EQ(KeySlot(key), crc.checksum() % kSlotCount) << length;
  }
}

TEST(KeySlot, HashesTheTagAlone) {
  EXPECT_EQ(HashTag("{user1000}.following"), "user1000");
  EXPECT_EQ(HashTag("foo{}{bar}"), "foo{}{bar}");
  EXPECT_EQ(HashTag("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(HashTag("foo{bar}{zap}"), "bar");
  EXPECT_EQ(HashTag("foo{bar"), "foo{bar");
  EXPECT_EQ(HashTag("foo}bar{"), "foo}bar{");
  EXPECT_EQ(HashTag(""), "");
  EXPECT_EQ(KeySlot("{user1000}.following"), KeySlot("user1000"));
}

TEST(KeySlot, OfAPatternNeedsATagBeforeItsWildcards) {
  EXPECT_EQ(PatternSlot("{tag}:*"), KeySlot("tag"));
  EXPECT_EQ(PatternSlot("a{tag}?"), KeySlot("tag"));
  EXPECT_EQ(PatternSlot("plain"), KeySlot("plain"));
  EXPECT_EQ(PatternSlot("plain*"), std::nullopt);
  EXPECT_EQ(PatternSlot("{t*g}"), std::nullopt);
  EXPECT_EQ(PatternSlot("*{tag}"), std::nullopt);
}

}  // namespace
}  // namespace zsetd
