#include "server/commands/stream/entry_deletion.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {
namespace {

using Result = EntryDeletion::Result;

Stream WithEntries(uint64_t count) {
  Stream stream;
  const std::vector<std::string_view> fields = {"f", "v"};
  for (uint64_t ms = 1; ms <= count; ++ms) stream.Append({ms, 0}, fields, StreamLimits());
  return stream;
}

TEST(EntryDeletion, EntryStaysUntilAllGroupsHaveReadAndAcknowledgedIt) {
  Stream stream = WithEntries(5);
  stream.AddGroup("far", ConsumerGroup({5, 0}, 5));
  stream.AddGroup("near", ConsumerGroup({3, 0}, 3));
  ConsumerGroup& group = *stream.ChangeGroup("far");
  group.AddConsumer("c", Millis(0));
  group.SetPending({2, 0}, "c", Millis(0), 1);
  EntryDeletion deletion(stream, References::kForbid);
  EXPECT_EQ(deletion.Delete({1, 0}), Result::kDeleted);
  EXPECT_EQ(deletion.Delete({2, 0}), Result::kReferenced);
  EXPECT_EQ(deletion.Delete({3, 0}), Result::kDeleted);
  EXPECT_EQ(deletion.Delete({4, 0}), Result::kReferenced);
  group.Acknowledge({2, 0});  // XACKDEL
  EXPECT_EQ(deletion.Delete({2, 0}), Result::kDeleted);
}

TEST(EntryDeletion, GroupsAreVisitedOncePerCommand) {
  constexpr uint64_t kEntries = 20'000;
  Stream stream = WithEntries(kEntries);
  for (int i = 0; i < 5'000; ++i) {
    stream.AddGroup("group" + std::to_string(i), ConsumerGroup({kEntries, 0}, kEntries));
  }
  const std::clock_t begin = std::clock();
  EntryDeletion deletion(stream, References::kForbid);
  for (uint64_t ms = 1; ms <= kEntries; ++ms) {
    EXPECT_EQ(deletion.Delete({ms, 0}), Result::kDeleted);
  }
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
}

}  // namespace
}  // namespace zsetd
