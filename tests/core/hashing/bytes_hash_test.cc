#include "core/hashing/bytes_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace zsetd {
namespace {

// Aumasson and Bernstein 2012, appendix A: key 00 01 .. 0f, message 00 01 .. 0e.
TEST(SipHash, ReproducesThePapersTestVector) {
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string message;
  for (char byte = 0; byte < 15; ++byte) message.push_back(byte);
  EXPECT_EQ((SipHash<2, 4>(key, message)), 0xa129ca6149be45e5);
}

// Python 3.11 hashes bytes with SipHash-1-3, with a zero key under PYTHONHASHSEED=0. The inputs
// cover every length that the last, incomplete word of a message can have.
TEST(SipHash, WithFewerRoundsAgreesWithPython) {
  constexpr std::string_view kLetters = "abcdefghijklmnopq";
  constexpr uint64_t kHashes[] = {0x407448d2b89b1813, 0x555508cbc6add439, 0xc03bc3a0042630f2,
                                  0xe3d1d5fdd52aae89, 0x251f3c725bd784a2, 0x62207e654289df28,
                                  0x6db12aae9070f506, 0x3f7b849c0b8e35ea, 0xf89b34a3d11eb6e5,
                                  0xf47c264806c40ff1, 0x14215fc65e2c3bd4, 0x83275255f37565c1,
                                  0x954aa964997ae4e6, 0xfdbd7fa99ace11da, 0x1fd27a29b0e9dc7a,
                                  0x94f60d3d29e6a312, 0x61c47e6da27eaccc};
  for (size_t length = 1; length <= kLetters.size(); ++length) {
    EXPECT_EQ((SipHash<1, 3>(HashKey{}, kLetters.substr(0, length))), kHashes[length - 1]);
  }
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
