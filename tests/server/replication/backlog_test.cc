#include "server/replication/backlog.h"

#include <gtest/gtest.h>

#include <string>

namespace zsetd {
namespace {

class BacklogTest : public testing::Test {
 protected:
  BacklogTest() { state_.Join(std::string(40, 'a'), 1000); }

  static std::string Bytes(size_t count, char first) {
    std::string bytes;
    for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(first + i % 23);
    return bytes;
  }

  uint64_t Append(Backlog& backlog, const std::string& bytes) {
    OutputBuffer unit;
    unit.Append(bytes);
    const uint64_t end = backlog.Append(unit);
    EXPECT_EQ(unit.view(), bytes) << "it takes none";
    return end;
  }

  // Returns all bytes from that offset on. Reads at most `most` at a time.
  static std::string Read(const Backlog& backlog, int64_t offset, size_t most) {
    OutputBuffer out;
    while (const size_t count = backlog.Copy(offset, most, out)) {
      EXPECT_LE(count, most);
      offset += static_cast<int64_t>(count);
    }
    return std::string(out.view());
  }

  Settings settings_;
  ServerMode mode_;
  ReplicationState state_{settings_, mode_};
};

TEST_F(BacklogTest, StartsEmptyAtTheOffsetOfTheHistory) {
  const Backlog backlog(state_);
  EXPECT_EQ(backlog.first_offset(), 1001);
  EXPECT_EQ(backlog.size(), 0u);
  EXPECT_TRUE(backlog.Has(1001)) << "it comes next";
  EXPECT_FALSE(backlog.Has(1000));
  EXPECT_FALSE(backlog.Has(1002));
}

TEST_F(BacklogTest, AdvancesTheHistoryAndReturnsTheBytes) {
  Backlog backlog(state_);
  EXPECT_EQ(Append(backlog, "one"), 1003u);
  EXPECT_EQ(Append(backlog, "three"), 1008u);
  EXPECT_EQ(state_.offset(), 1008);
  EXPECT_EQ(Read(backlog, 1001, 100), "onethree");
  EXPECT_EQ(Read(backlog, 1004, 2), "three");
  EXPECT_EQ(Read(backlog, 1009, 100), "");
}

TEST_F(BacklogTest, CrossesPiecesAtAnyOffset) {
  Backlog backlog(state_);
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string unit = Bytes(static_cast<size_t>(i) * 997 % 9000 + 1, 'a');
    Append(backlog, unit);
    all += unit;
  }
  ASSERT_GT(all.size(), size_t{2} << 16);
  for (size_t from = 0; from < all.size(); from += 7919) {
    EXPECT_EQ(Read(backlog, 1001 + static_cast<int64_t>(from), 5000), all.substr(from));
  }
}

TEST_F(BacklogTest, DropsWholePiecesThatNoReaderNeeds) {
  Backlog backlog(state_);
  const std::string all = Bytes(300'000, 'a');
  Append(backlog, all);
  const size_t before = backlog.BytesUsed();
  backlog.DropBefore(1001 + 200'000);
  EXPECT_LT(backlog.BytesUsed(), before);
  EXPECT_FALSE(backlog.Has(1001));
  EXPECT_LE(backlog.first_offset(), 1001 + 200'000) << "needed bytes stay";
  const auto kept = static_cast<size_t>(backlog.first_offset() - 1001);
  EXPECT_EQ(Read(backlog, backlog.first_offset(), 70'000), all.substr(kept));
  EXPECT_EQ(backlog.size(), all.size() - kept);
}

TEST_F(BacklogTest, ContinuesAfterAllBytesWereDropped) {
  Backlog backlog(state_);
  Append(backlog, Bytes(size_t{1} << 16, 'a'));  // exactly one piece
  backlog.DropBefore(state_.offset() + 1);
  EXPECT_EQ(backlog.size(), 0u);
  EXPECT_EQ(backlog.first_offset(), state_.offset() + 1);
  const int64_t next = state_.offset() + 1;
  Append(backlog, "more");
  EXPECT_EQ(Read(backlog, next, 100), "more");
}

}  // namespace
}  // namespace zsetd
