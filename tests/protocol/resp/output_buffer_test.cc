#include "protocol/resp/output_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>

namespace zsetd {
namespace {

OutputBuffer With(std::string_view bytes) {
  OutputBuffer buffer;
  buffer.Append(bytes);
  return buffer;
}

TEST(OutputBuffer, HoldsWhatCameBesideAString) {
  std::mt19937 random(1);
  OutputBuffer buffer;
  std::string model;
  for (int step = 0; step < 2000; ++step) {
    const std::string bytes(random() % 200, static_cast<char>('a' + random() % 26));
    if (random() % 2 == 0) {
      buffer.Append(bytes);
    } else {
      bytes.copy(buffer.Extend(bytes.size()), bytes.size());
    }
    model += bytes;
    if (random() % 50 == 0) {
      model.resize(random() % (model.size() + 1));
      buffer.Truncate(model.size());
    }
    ASSERT_EQ(buffer.view(), model);
    ASSERT_GE(buffer.capacity(), buffer.empty() ? 0 : buffer.size() + OutputBuffer::kSlack);
  }
}

TEST(OutputBuffer, TakesABitTooMuchBehindWhatIsFilled) {
  OutputBuffer buffer;
  for (size_t size = 0; size < 300; ++size) {
    std::memset(buffer.Extend(size), '0' + static_cast<int>(size % 10),
                size + OutputBuffer::kSlack);
    EXPECT_EQ(buffer.view().substr(buffer.size() - size), std::string(size, '0' + size % 10));
  }
}

TEST(OutputBuffer, EndsWhereItIsTold) {
  OutputBuffer buffer = With("kept");
  char* more = buffer.Extend(100);
  *more = '!';
  buffer.EndAt(more + 1);
  EXPECT_EQ(buffer.view(), "kept!");
}

TEST(OutputBuffer, EmptiedKeepsItsRoom) {
  OutputBuffer buffer = With(std::string(1000, 'x'));
  const size_t capacity = buffer.capacity();
  buffer.Clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), capacity);
}

TEST(OutputBuffer, MovesLeavingNothing) {
  OutputBuffer from = With("bytes");
  OutputBuffer to = With("gone");
  to = std::move(from);
  EXPECT_EQ(to.view(), "bytes");
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(from.capacity(), 0);
}

}  // namespace
}  // namespace zsetd
