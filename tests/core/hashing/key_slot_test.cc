#include "core/hashing/key_slot.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

// The checksum of the specification of Redis Cluster.
TEST(KeySlot, ReproducesTheSpecifiedChecksum) { EXPECT_EQ(KeySlot("123456789"), 0x31c3 % 16384); }

// The keys have every length, and the tag is at every place.
TEST(KeySlot, IsThatOfTheTagInLongAndShortKeys) {
  for (size_t length = 5; length < 70; ++length) {
    for (size_t at = 0; at + 5 <= length; ++at) {
      std::string key(length, '-');
      key.replace(at, 5, "{tag}");
      ASSERT_EQ(KeySlot(key), KeySlot("tag")) << length << " " << at;
    }
    const std::string plain(length, '-');
    ASSERT_EQ(KeySlot(plain), KeySlot("{" + plain + "}")) << length;
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
