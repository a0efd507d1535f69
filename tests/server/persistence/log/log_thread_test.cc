// The thread that writes the log keeps its guarantees when the disk fails.
#include "server/persistence/log/log_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include "tests/support/memory_files.h"

namespace zsetd::log_thread_test {
namespace {

using Kind = MemoryFiles::Operation::Kind;

OutputBuffer Bytes(std::string_view text) {
  OutputBuffer bytes;
  bytes.Append(text);
  return bytes;
}

LogThread::Options With(SyncPolicy policy) {
  return {.directory = "/log", .manifest_name = "manifest", .policy = policy};
}

std::unique_ptr<WritableFile> FirstFile(MemoryFiles& files) {
  return files.Create("/log/a.1.incr.aof").value();
}

// Appends a unit whose sync fails.
void BreakBySync(LogThread& thread, MemoryFiles& files) {
  files.set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == Kind::kSyncData ? absl::InternalError("Input/output error")
                                             : absl::OkStatus();
  });
  thread.Append(Bytes("lost"));
  while (!thread.progress().is_broken) std::this_thread::yield();
  files.set_failure(nullptr);
}

absl::Status ResultOf(LogThread& thread, LogStep step) {
  thread.Do(std::move(step));
  for (;;) {
    if (const auto result = thread.TakeStepResult()) return result->status();
    std::this_thread::yield();
  }
}

// A second sync would succeed, although the bytes written before the first are lost.
TEST(LogThread, NothingIsDurableAfterAFailedSyncUntilANewFileExists) {
  MemoryFiles files;
  LogThread thread(files, With(SyncPolicy::kAlways), FirstFile(files), 0);
  ASSERT_TRUE(thread.Start().ok());
  BreakBySync(thread, files);

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

TEST(LogThread, AppendedUnitsAreInTheFileUnlessASyncIsRunning) {
  for (const SyncPolicy policy : {SyncPolicy::kEverySecond, SyncPolicy::kNever}) {
    MemoryFiles files;
    std::atomic<bool> is_syncing = false;
    std::atomic<bool> is_stopped = true;
    files.set_failure([&](const MemoryFiles::Operation& operation) {
      if (operation.kind != Kind::kSyncData) return absl::OkStatus();
      is_syncing = true;
      while (is_stopped) std::this_thread::yield();
      return absl::OkStatus();
    });
    LogThread thread(files, With(policy), FirstFile(files), 0);
    ASSERT_TRUE(thread.Start().ok());
    thread.Append(Bytes("a"));
    EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "a");
    EXPECT_EQ(thread.progress().written, 1u);
    if (policy == SyncPolicy::kNever) {
      const LogManifest next = {.incremental = {{.name = "a.1.incr.aof", .number = 1}}};
      thread.Do({.manifest = next});  // the manifest change syncs
    }
    while (!is_syncing) std::this_thread::yield();

    // Another thread writes the unit, and does not wait for the end of the sync.
    thread.Append(Bytes("b"));
    while (thread.progress().written < 2) std::this_thread::yield();
    EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "ab");
    EXPECT_EQ(thread.progress().durable, 0u);
    is_stopped = false;
    while (thread.progress().durable == 0) std::this_thread::yield();
    EXPECT_EQ(thread.progress().durable, 1u) << "the second unit came after the sync had begun";
    EXPECT_TRUE(thread.Flush());
    EXPECT_EQ(thread.progress().durable, 2u);
    files.set_failure(nullptr);
  }
}

// Three threads write, sync and change files. The files together hold each unit once and in order.
TEST(LogThread, UnitsStayInOrderWhicheverThreadWritesThem) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  MemoryFiles files;
  std::atomic<uint64_t> operations = 0;
  files.set_failure([&](const MemoryFiles::Operation& operation) {
    const uint64_t count = ++operations;
    if (operation.kind == Kind::kSyncData && count % 3 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    const bool fails = operation.kind == Kind::kWrite && count == 2000;
    return fails ? absl::InternalError("No space left on device") : absl::OkStatus();
  });
  std::string appended;
  LogManifest manifest = {.incremental = {{.name = "a.1.incr.aof", .number = 1}}};
  {
    LogThread thread(files, With(SyncPolicy::kNever), FirstFile(files), 0);
    ASSERT_TRUE(thread.Start().ok());
    bool is_step_ahead = false;
    for (int i = 0; i < 5000; ++i) {
      const std::string unit = std::to_string(i) + ";";
      appended += unit;
      thread.Append(Bytes(unit));
      const LogProgress progress = thread.progress();
      ASSERT_LE(progress.durable, progress.written);
      ASSERT_LE(progress.written, appended.size());
      if (is_step_ahead && thread.TakeStepResult()) is_step_ahead = false;
      if (random() % 50 == 0) thread.set_policy(static_cast<SyncPolicy>(random() % 3));
      if (random() % 200 == 0) thread.Flush();
      if (random() % 50 != 0 || is_step_ahead) continue;
      is_step_ahead = true;
      if (random() % 2 == 0) {
        thread.Do({.manifest = manifest});
        continue;
      }
      const uint64_t number = manifest.LastNumber() + 1;
      const std::string name = "a." + std::to_string(number) + ".incr.aof";
      manifest.incremental.push_back({.name = name, .number = number});
      thread.Do({.next_file = name, .manifest = manifest});
    }
    while (!thread.Flush()) std::this_thread::yield();
    EXPECT_EQ(thread.progress().durable, appended.size());
    files.set_failure(nullptr);
  }
  std::string written;
  for (const LogFile& each : manifest.incremental) {
    written += files.contents().at("/log/" + each.name);
  }
  EXPECT_EQ(written, appended);
}

// A manifest that names a file whose sync has failed would promise data that may be lost.
TEST(LogThread, AStepThatKeepsABrokenFileFails) {
  MemoryFiles files;
  LogThread thread(files, With(SyncPolicy::kAlways), FirstFile(files), 0);
  ASSERT_TRUE(thread.Start().ok());
  BreakBySync(thread, files);
  const LogManifest both = {.incremental = {{.name = "a.1.incr.aof", .number = 1},
                                            {.name = "a.2.incr.aof", .number = 2}}};
  EXPECT_FALSE(ResultOf(thread, {.next_file = "a.2.incr.aof", .manifest = both}).ok());
  EXPECT_TRUE(thread.progress().is_broken);
  EXPECT_EQ(thread.progress().durable, 0u);
}

// A second sync could start with the units that arrived during the first. But the two clients that
// wait for the first are about to write again.
TEST(LogThread, ASyncWaitsForClientsThatTheLastOneHasReleased) {
  MemoryFiles files;
  std::atomic<int> syncs = 0;
  files.set_failure([&](const MemoryFiles::Operation& operation) {
    if (operation.kind == Kind::kSyncData) {
      ++syncs;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    return absl::OkStatus();
  });
  LogThread::Options options = With(SyncPolicy::kAlways);
  options.longest_wait = std::chrono::seconds(1);
  LogThread thread(files, options, FirstFile(files), 0);
  ASSERT_TRUE(thread.Start().ok());
  thread.Append(Bytes("aa"), 2);
  while (syncs == 0) std::this_thread::yield();
  thread.Append(Bytes("b"), 1);
  while (thread.progress().durable < 2) std::this_thread::yield();
  thread.Append(Bytes("cc"), 2);
  while (thread.progress().durable < 3) std::this_thread::yield();
  EXPECT_EQ(thread.progress().durable, 5u);
  EXPECT_EQ(syncs, 2);
}

// Lets truncations fail, and writes too unless `writes_work`. Half of the bytes of a failed write
// are in the file.
void TearWrites(MemoryFiles& files, bool writes_work, std::atomic<int>& truncations) {
  files.set_failure([&files, &truncations, writes_work](const MemoryFiles::Operation& operation) {
    if (operation.kind == Kind::kTruncate) {
      ++truncations;
      return absl::InternalError("Input/output error");
    }
    if (operation.kind != Kind::kWrite || writes_work) return absl::OkStatus();
    const std::string half = operation.bytes.substr(0, operation.bytes.size() / 2);
    files.set_contents(operation.path, files.contents().at(operation.path) + half);
    return absl::InternalError("No space left on device");
  });
}

TEST(LogThread, NoUnitFollowsAPartOfAnotherOne) {
  for (const SyncPolicy policy :
       {SyncPolicy::kAlways, SyncPolicy::kEverySecond, SyncPolicy::kNever}) {
    MemoryFiles files;
    LogThread thread(files, With(policy), FirstFile(files), 0);
    ASSERT_TRUE(thread.Start().ok());
    thread.Append(Bytes("first"));
    while (thread.progress().written < 5) std::this_thread::yield();
    std::atomic<int> truncations = 0;
    TearWrites(files, /*writes_work=*/false, truncations);
    thread.Append(Bytes("second"));
    while (!thread.progress().is_broken) std::this_thread::yield();
    EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "firstsec");

    TearWrites(files, /*writes_work=*/true, truncations);
    const int before = truncations;
    thread.Append(Bytes("third"));
    while (truncations == before && thread.progress().written == 5) std::this_thread::yield();
    EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "firstsec");
    files.set_failure(nullptr);
    while (thread.progress().written < 16) std::this_thread::yield();
    EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "firstsecondthird");
    EXPECT_TRUE(thread.progress().is_broken) << "until there is a new file";
  }
}

// The base that is written for the new file contains the changes of the units before it.
TEST(LogThread, ANewFileNeedNotWaitForATornFile) {
  MemoryFiles files;
  LogThread thread(files, With(SyncPolicy::kAlways), FirstFile(files), 0);
  ASSERT_TRUE(thread.Start().ok());
  thread.Append(Bytes("first"));
  EXPECT_TRUE(thread.Flush());
  std::atomic<int> truncations = 0;
  TearWrites(files, /*writes_work=*/false, truncations);
  thread.Append(Bytes("second"));
  while (!thread.progress().is_broken) std::this_thread::yield();
  TearWrites(files, /*writes_work=*/true, truncations);
  const LogManifest present = {.incremental = {{.name = "a.1.incr.aof", .number = 1}}};
  EXPECT_FALSE(ResultOf(thread, {.manifest = present}).ok());
  EXPECT_EQ(thread.waiting(), 6u) << "after a step that fails, the unit still waits";

  const LogManifest next = {.incremental = {{.name = "a.2.incr.aof", .number = 2}}};
  thread.Append(Bytes("third"));
  EXPECT_TRUE(ResultOf(thread, {.next_file = "a.2.incr.aof"}).ok());
  thread.Append(Bytes("fourth"));
  EXPECT_EQ(thread.progress().durable, 5u);
  EXPECT_TRUE(ResultOf(thread, {.manifest = next}).ok());
  EXPECT_TRUE(thread.Flush());
  EXPECT_FALSE(thread.progress().is_retrying);
  EXPECT_EQ(thread.progress().durable, 22u);
  EXPECT_EQ(files.contents().at("/log/a.1.incr.aof"), "firstsec");
  EXPECT_EQ(files.contents().at("/log/a.2.incr.aof"), "fourth");
}

}  // namespace
}  // namespace zsetd::log_thread_test
