#include "server/replication/snapshot_pipe.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace zsetd {
namespace {

class SnapshotPipeTest : public testing::Test {
 protected:
  std::string Read(size_t reader) {
    OutputBuffer out;
    pipe_.Read(reader, out);
    return std::string(out.view());
  }

  int announced_ = 0;
  SnapshotPipe pipe_{[this] { ++announced_; }};
};

TEST_F(SnapshotPipeTest, EachReaderGetsAllAtItsOwnSpeed) {
  const size_t fast = pipe_.AddReader(), slow = pipe_.AddReader();
  pipe_.Write("one");
  EXPECT_EQ(Read(fast), "one");
  EXPECT_EQ(Read(fast), "");
  pipe_.Write("two");
  EXPECT_EQ(Read(fast), "two");
  EXPECT_EQ(pipe_.waiting(), 6u) << "for the slowest";
  EXPECT_EQ(Read(slow), "one");
  EXPECT_EQ(Read(slow), "two");
  EXPECT_EQ(pipe_.waiting(), 0u);
}

TEST_F(SnapshotPipeTest, TheEndIsReachedWhenAllBytesAreRead) {
  const size_t reader = pipe_.AddReader();
  pipe_.Write("all");
  pipe_.End();
  EXPECT_FALSE(pipe_.IsAtEnd(reader));
  EXPECT_EQ(Read(reader), "all");
  EXPECT_TRUE(pipe_.IsAtEnd(reader));
}

TEST_F(SnapshotPipeTest, AnnouncesMoreBytesOnceUntilTheyAreRead) {
  const size_t reader = pipe_.AddReader();
  pipe_.Write("a");
  pipe_.Write("b");
  EXPECT_EQ(announced_, 1);
  Read(reader);
  pipe_.Write("c");
  EXPECT_EQ(announced_, 2);
}

TEST_F(SnapshotPipeTest, AnnouncesNothingOnceSilenced) {
  pipe_.AddReader();
  pipe_.Silence();
  pipe_.Write("a");
  pipe_.End();
  EXPECT_EQ(announced_, 0);
}

TEST_F(SnapshotPipeTest, KeepsNothingForReadersThatHaveLeft) {
  const size_t one = pipe_.AddReader(), other = pipe_.AddReader();
  pipe_.Write("bytes");
  Read(one);
  pipe_.RemoveReader(other);
  EXPECT_EQ(pipe_.waiting(), 0u);
  EXPECT_TRUE(pipe_.has_readers());
  pipe_.RemoveReader(one);
  EXPECT_FALSE(pipe_.has_readers());
  pipe_.Write("for nobody");
  EXPECT_EQ(pipe_.waiting(), 0u);
}

TEST_F(SnapshotPipeTest, OneThreadWritesWhileAnotherReads) {
  const size_t reader = pipe_.AddReader();
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += std::string(static_cast<size_t>(i) * 37, 'a' + i % 26);
  std::thread writer([&] {
    for (size_t at = 0; at < expected.size(); at += 1000) {
      pipe_.Write(std::string_view(expected).substr(at, 1000));
    }
    pipe_.End();
  });
  OutputBuffer out;
  while (!pipe_.IsAtEnd(reader)) pipe_.Read(reader, out);
  writer.join();
  EXPECT_EQ(out.view(), expected);
}

TEST_F(SnapshotPipeTest, SinkEndsWithTheChecksum) {
  auto pipe = std::make_shared<SnapshotPipe>([] {});
  const size_t reader = pipe->AddReader();
  PipeSink sink(pipe, /*with_checksum=*/false);
  ASSERT_TRUE(sink.Write("bytes").ok());
  ASSERT_TRUE(sink.Finish().ok());
  OutputBuffer out;
  while (!pipe->IsAtEnd(reader)) pipe->Read(reader, out);
  EXPECT_EQ(out.view(), std::string("bytes") + std::string(8, '\0'));
  EXPECT_EQ(sink.size(), out.size());
}

}  // namespace
}  // namespace zsetd
