#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "protocol/rdb/dump_payload.h"
#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {
namespace {

constexpr size_t kMost = 1u << 30;

TEST(Rdb, LengthsReadBackAsWritten) {
  for (const uint64_t length : {uint64_t{0}, uint64_t{63}, uint64_t{64}, uint64_t{16383},
                                uint64_t{16384}, uint64_t{UINT32_MAX}, uint64_t{1} << 32}) {
    std::string bytes;
    RdbWriter(bytes).Length(length);
    RdbReader reader(bytes, kMost);
    EXPECT_EQ(reader.Length(), length);
    EXPECT_TRUE(reader.ok() && reader.AtEnd()) << length;
  }
}

TEST(Rdb, StringsReadBackAsWritten) {
  const std::string long_one(100'000, 'x');
  for (const std::string& string :
       {std::string(), std::string("0"), std::string("-129"), std::string("40000"),
        std::string("-2147483648"), std::string("2147483648"), std::string("007"),
        std::string("\x00\xff", 2), std::string("twenty-one bytes long"), long_one}) {
    std::string bytes;
    RdbWriter(bytes).String(string);
    RdbReader reader(bytes, kMost);
    EXPECT_EQ(reader.String(), string);
    EXPECT_TRUE(reader.ok() && reader.AtEnd()) << string.substr(0, 20);
    EXPECT_LE(bytes.size(), string.size() + 1);
  }
}

// A string that exceeds the maximum length, and one that claims to unpack to an impossible size.
TEST(Rdb, LengthsAreBoundedBeforeMemoryIsSpent) {
  std::string bytes;
  RdbWriter(bytes).String(std::string(1000, 'x'));
  RdbReader bounded(bytes, 999);
  EXPECT_EQ(bounded.String(), "");
  EXPECT_FALSE(bounded.ok());
  const std::string claim(
      "\xc3\x03\x81\x00\x00\x00\x00\xff\xff\xff\xff"
      "abc",
      14);
  RdbReader reader(claim, std::numeric_limits<size_t>::max());
  EXPECT_EQ(reader.String(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(Rdb, PayloadOpensOnlyAsItWasSealed) {
  std::string payload("\x00\xc0\x01", 3);  // the payload of redis-server 7.0.15 for SET k 1
  SealPayload(payload);
  EXPECT_EQ(payload, std::string("\x00\xc0\x01\x0a\x00\x26\x78\xe7\xb6\xd1\x01\x11\xfc", 13));
  EXPECT_EQ(OpenPayload(payload), std::string_view("\x00\xc0\x01", 3));
  for (size_t at = 0; at < payload.size(); ++at) {
    std::string damaged = payload;
    damaged[at] ^= 1;
    EXPECT_EQ(OpenPayload(damaged), std::nullopt);
    EXPECT_EQ(OpenPayload(payload.substr(0, at)), std::nullopt);
  }
}

}  // namespace
}  // namespace zsetd
