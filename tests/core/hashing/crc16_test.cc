#include "core/hashing/crc16.h"

#include <gtest/gtest.h>

#include <boost/crc.hpp>
#include <memory>
#include <string_view>

#include "core/util/rng.h"

namespace zsetd {
namespace {

// Calls check(bytes, checksum) with random bytes of every length up to 200, at any alignment.
// Sanitizers notice reads outside of them.
template <class Check>
void ForRandomBytes(Check check) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (size_t length = 0; length < 200; ++length) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      const size_t shift = rng.Below(8);
      const auto memory = std::make_unique<char[]>(shift + length);
      char* const bytes = memory.get() + shift;
      for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>(rng.Below(256));
      boost::crc_optimal<16, 0x1021, 0, 0, false, false> crc;
      crc.process_bytes(bytes, length);
      check(std::string_view(bytes, length), crc.checksum());
    }
  }
}

TEST(Crc16, ByTablesAgreesWithBoostForEveryLength) {
  ForRandomBytes([](std::string_view bytes, unsigned checksum) {
    ASSERT_EQ(Crc16ByTables(bytes), checksum) << bytes.size();
  });
}

#if defined(__x86_64__)

TEST(Crc16, ByMultiplicationAgreesWithBoostForEveryLength) {
  if (!has_carryless_multiplication) GTEST_SKIP() << "the processor has no PCLMULQDQ";
  ForRandomBytes([](std::string_view bytes, unsigned checksum) {
    ASSERT_EQ(Crc16ByMultiplication(bytes), checksum) << bytes.size();
  });
}

#endif

}  // namespace
}  // namespace zsetd
