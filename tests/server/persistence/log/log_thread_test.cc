// What the thread that writes the log does when the disk fails it.
#include "server/persistence/log/log_thread.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace zsetd
