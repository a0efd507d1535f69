#include "core/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace zsetd {
namespace {

// Aumasson and Bernstein 2012, appendix A: key 00 01 .. 0f, message 00 01 .. 0e.
TEST(SipHash, GivesThePapersTestVector) {
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string message;
  for (char byte = 0; byte < 15; ++byte) message.push_back(byte);
  EXPECT_EQ((SipHash<2, 4>(key, message)), 0xa129ca6149be45e5);
}

// Python 3.11 hashes bytes with SipHash-1-3, with a zero key under PYTHONHASHSEED=0.
TEST(SipHash, WithFewerRoundsAgreesWithPython) {
  EXPECT_EQ((SipHash<1, 3>(HashKey{}, "a")), 0x407448d2b89b1813);
  EXPECT_EQ((SipHash<1, 3>(HashKey{}, "leaderboard")), 0x71dbdde416a3cc7);
  EXPECT_EQ((SipHash<1, 3>(HashKey{}, "sixteen bytes ok")), 0x990122690d52edb7);
}

TEST(BytesHash, AnotherSeedIsAnotherHash) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 1000; ++seed) hashes.insert(BytesHash(seed)("key"));
  EXPECT_EQ(hashes.size(), 1000u);
}

TEST(BytesHash, ZeroBytesAtTheEndCount) {
  const BytesHash hash(1);
  EXPECT_NE(hash(std::string_view("a")), hash(std::string_view("a\0", 2)));
  EXPECT_NE(hash(std::string_view()), hash(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace zsetd
