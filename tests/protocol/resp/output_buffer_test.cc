#include "protocol/resp/output_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

OutputBuffer With(std::string_view bytes) {
  OutputBuffer buffer;
  buffer.Append(bytes);
  return buffer;
}

TEST(OutputBuffer, KeepsBytesAddedAroundAString) {
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

std::string PiecesOf(const OutputBuffer& buffer) {
  std::vector<std::string_view> pieces(1000);
  pieces.resize(buffer.Pieces(pieces));
  std::string text;
  for (const std::string_view piece : pieces) {
    EXPECT_FALSE(piece.empty());
    text += piece;
  }
  return text;
}

TEST(OutputBuffer, KeepsBytesAddedInManyPieces) {
  std::mt19937 random(2);
  OutputBuffer buffer;
  std::string model;
  for (int step = 0; step < 3000; ++step) {
    const size_t size = random() % 20 == 0 ? random() % 200'000 : random() % 5'000;
    const size_t before = model.size();
    model.append(size, static_cast<char>('a' + random() % 26));
    std::memset(buffer.Extend(size), model.back(), size + OutputBuffer::kSlack);
    if (model.empty()) continue;
    switch (random() % 8) {
      case 0:  // back to any place after the dropped bytes
        model.resize(before + random() % (model.size() - before + 1));
        buffer.Truncate(model.size());
        break;
      case 1: {
        const size_t dropped = random() % (model.size() + 1);
        model.erase(0, dropped);
        buffer.Drop(dropped);
        break;
      }
      case 2: {
        OutputBuffer other;
        other.Append(std::string(random() % 100'000, '!'));
        model += PiecesOf(other);
        buffer.Take(other);
        ASSERT_TRUE(other.empty());
        break;
      }
      default:
        break;
    }
    ASSERT_EQ(buffer.size(), model.size());
    ASSERT_GE(buffer.capacity(), buffer.size());
    if (!model.empty()) {
      const size_t place = random() % model.size();
      ASSERT_EQ(buffer.At(place), model[place]);
    }
    if (step % 50 == 0) {
      ASSERT_EQ(PiecesOf(buffer), model);
    }
    if (step % 500 == 0) {
      ASSERT_EQ(buffer.view(), model);
    }
  }
}

TEST(OutputBuffer, GoesBackOverPieces) {
  OutputBuffer buffer = With("kept");
  for (int i = 0; i < 100; ++i) buffer.Append(std::string(10'000, 'x'));
  buffer.Truncate(4);
  EXPECT_EQ(buffer.view(), "kept");
  EXPECT_LT(buffer.capacity(), 100'000u);
  buffer.Append(" too");
  EXPECT_EQ(buffer.view(), "kept too");
}

// Otherwise hundreds of replies of a megabyte, of one transaction, are copied again and again.
TEST(OutputBuffer, LongStringsStayWhereTheyWereWritten) {
  constexpr size_t kSize = 1u << 20;
  OutputBuffer buffer = With("header");
  std::vector<const char*> places;
  for (int i = 0; i < 20; ++i) places.push_back(buffer.Extend(kSize));
  std::vector<std::string_view> pieces(100);
  pieces.resize(buffer.Pieces(pieces));
  for (const char* const place : places) {
    EXPECT_TRUE(std::ranges::any_of(pieces, [=](std::string_view piece) {
      return piece.data() <= place && place + kSize <= piece.data() + piece.size();
    }));
  }
  EXPECT_LT(buffer.capacity(), 21 * kSize);
}

TEST(OutputBuffer, FreesSentBytesBeforeTheRest) {
  OutputBuffer buffer;
  for (int i = 0; i < 100; ++i) buffer.Append(std::string(100'000, 'x'));
  const size_t capacity = buffer.capacity();
  buffer.Drop(9'000'000);
  EXPECT_EQ(buffer.size(), 1'000'000u);
  EXPECT_LT(buffer.capacity(), capacity / 5);
}

TEST(OutputBuffer, ToleratesStoresSlightlyBeyondTheFilledPart) {
  OutputBuffer buffer;
  for (size_t size = 0; size < 300; ++size) {
    std::memset(buffer.Extend(size), '0' + static_cast<int>(size % 10),
                size + OutputBuffer::kSlack);
    EXPECT_EQ(buffer.view().substr(buffer.size() - size), std::string(size, '0' + size % 10));
  }
}

TEST(OutputBuffer, EndsAtTheGivenLength) {
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
