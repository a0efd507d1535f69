#include "protocol/rdb/crc64.h"

#include <gtest/gtest.h>

namespace zsetd {
namespace {

TEST(Crc64, IsThatOfRedis) {
  EXPECT_EQ(Crc64(""), 0u);
  EXPECT_EQ(Crc64("123456789"), 0xe9c6d914c4b8d9cau);
}

}  // namespace
}  // namespace zsetd
