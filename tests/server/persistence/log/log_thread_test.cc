// What the thread that writes the log does when the disk fails it.
#include "server/persistence/log/log_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/memory_files.h"

namespace zsetd {
namespace {

using Kind = MemoryFiles::Operation::Kind;

OutputBuffer Bytes(std::string_view text) {
  OutputBuffer bytes;
  bytes.Append(text);
  return bytes;
}

absl::Status ResultOf(LogThread& thread, LogStep step) {
  thread.Do(std::move(step));
  std::optional<absl::Status> result;
  while (!(result = thread.TakeStepResult())) std::this_thread::yield();
  return *result;
}

// A second sync would succeed, although what was written before is lost.
TEST(LogThread, NothingIsDurableAfterAFailedSyncBeforeThereIsANewFile) {
  MemoryFiles files;
  auto file = files.Create("/log/a.1.incr.aof");
  ASSERT_TRUE(file.ok());
  LogThread thread(
      files, {.directory = "/log", .manifest_name = "manifest", .policy = SyncPolicy::kAlways},
      *std::move(file), 0);
  files.set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == Kind::kSyncData ? absl::InternalError("Input/output error")
                                             : absl::OkStatus();
  });
  thread.Append(Bytes("lost"));
  while (!thread.progress().is_broken) std::this_thread::yield();
  files.set_failure(nullptr);

  const LogManifest present = {.incremental = {{.name = "a.1.incr.aof", .number = 1}}};
  EXPECT_FALSE(ResultOf(thread, {.manifest = present}).ok());
  EXPECT_TRUE(thread.progress().is_broken);
  EXPECT_EQ(thread.progress().durable, 0u);
  EXPECT_FALSE(files.contents().contains("/log/manifest"));

  const LogManifest next = {.incremental = {{.name = "a.2.incr.aof", .number = 2}}};
  EXPECT_TRUE(ResultOf(thread, {.next_file = "a.2.incr.aof"}).ok());
  thread.Append(Bytes("kept"));
  EXPECT_TRUE(ResultOf(thread, {.manifest = next}).ok());
  EXPECT_TRUE(thread.Flush());
  EXPECT_EQ(files.contents().at("/log/a.2.incr.aof"), "kept");
}

// The second sync could begin with what has come during the first, but two who wait for that are
// about to write again.
TEST(LogThread, ASyncWaitsForThoseWhomTheLastOneHasReleased) {
  MemoryFiles files;
  auto file = files.Create("/log/a.1.incr.aof");
  ASSERT_TRUE(file.ok());
  std::atomic<int> syncs = 0;
  files.set_failure([&](const MemoryFiles::Operation& operation) {
    if (operation.kind == Kind::kSyncData) {
      ++syncs;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    return absl::OkStatus();
  });
  LogThread thread(files,
                   {.directory = "/log",
                    .manifest_name = "manifest",
                    .policy = SyncPolicy::kAlways,
                    .longest_wait = std::chrono::seconds(1)},
                   *std::move(file), 0);
  thread.Append(Bytes("aa"), 2);
  while (syncs == 0) std::this_thread::yield();
  thread.Append(Bytes("b"), 1);
  while (thread.progress().durable < 2) std::this_thread::yield();
  thread.Append(Bytes("cc"), 2);
  while (thread.progress().durable < 3) std::this_thread::yield();
  EXPECT_EQ(thread.progress().durable, 5u);
  EXPECT_EQ(syncs, 2);
}

}  // namespace
}  // namespace zsetd
