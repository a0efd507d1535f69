// Hostile bytes for cmsgpack.unpack, which any client may have stored.

#include "server/scripting/library/msgpack.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#include "tests/server/scripting/sandboxed_lua.h"

namespace zsetd {
namespace {

void AppendBigEndian(uint64_t value, int bytes, std::string& to) {
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(value >> (8 * i));
}

// The bits of the `index`-th double to which LuaJIT's tables give the hash 0; false if it is no
// usual number. The hash is computed from two halves: lo ^= hi, hi = rol(hi, 14), lo -= hi, hi =
// rol(hi, 5) ^ lo, hi -= rol(lo, 13). These steps are reversed here from any last value of lo.
bool CollidingDouble(uint32_t index, uint64_t& bits) {
  const uint32_t last = index * 2'654'435'761u;
  const uint32_t rotated = std::rotr(std::rotl(last, 13) ^ last, 5);
  const uint32_t high = std::rotr(rotated, 14);
  if (high % 2 != 0) return false;  // LuaJIT shifts the sign out
  const uint32_t low = (last + rotated) ^ high;
  bits = uint64_t{high >> 1} << 32 | low;
  const double number = std::bit_cast<double>(bits);
  return std::isfinite(number) && std::floor(number) != number;
}

// A map in MessagePack of that many doubles with the same hash.
std::string CollidingMap(uint32_t count) {
  std::string map = "\xdf";
  AppendBigEndian(count, 4, map);
  for (uint32_t index = 0, found = 0; found < count; ++index) {
    uint64_t bits = 0;
    if (!CollidingDouble(index, bits)) continue;
    map += '\xcb';
    AppendBigEndian(bits, 8, map);
    map += '\xc3';
    ++found;
  }
  return map;
}

std::string LuaText(std::string_view bytes) {
  std::string text = "'";
  for (const char byte : bytes) {
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\%03u", static_cast<unsigned char>(byte));
    text += escape;
  }
  return text + "'";
}

TEST(MsgPack, KeysThatCollideDoNotDelayASuspension) {
  const std::string code = "local s = " + LuaText(CollidingMap(20'000)) +
                           " redis.hurry() return type(cmsgpack.unpack(s))";
  SandboxedLua lua(1);
  const std::clock_t begin = std::clock();
  const auto outcome = lua.Run(code, /*hurried=*/true);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(outcome.text, "table");
  EXPECT_GT(outcome.slices, 20'000 / 64);
  EXPECT_LT(lua.longest_gap(), seconds / 5);
}

// Each level promises all bytes that are left. Together they would take gigabytes.
TEST(MsgPack, HeadersPromiseNoMoreThanTheBytesThatExist) {
  SandboxedLua lua(1);
  for (const char* const header : {"\\221\\220\\220", "\\221\\222", "\\129\\1\\221\\0\\0\\120\\0",
                                   "\\221\\0\\0\\120\\0", "\\223\\0\\0\\60\\0\\1"}) {
    SCOPED_TRACE(header);
    const std::string code =
        "return cmsgpack.unpack(('" + std::string(header) + "'):rep(3000) .. ('\\0'):rep(31000))";
    const size_t before = lua.allocated();
    const auto outcome = lua.Run(code, /*hurried=*/false);
    EXPECT_TRUE(outcome.failed);
    EXPECT_NE(outcome.text.find("Missing bytes in input."), std::string::npos) << outcome.text;
    EXPECT_LT(lua.allocated(), before + (8u << 20));
  }
}

}  // namespace
}  // namespace zsetd
