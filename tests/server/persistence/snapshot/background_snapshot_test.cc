// A snapshot that is given up makes no request wait for its thread.
#include "server/persistence/snapshot/background_snapshot.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/commands/all_commands.h"

namespace zsetd {
namespace {

// The events of a sink, which waits where the test asks for it.
struct SlowDisk {
  std::promise<void> reached;
  std::promise<void> may_continue;
  bool waits_at_write = false;
  bool is_complete = false;  // after the thread has ended

  void Wait() {
    reached.set_value();
    may_continue.get_future().wait();
  }
};

class SlowSink : public SnapshotSink {
 public:
  explicit SlowSink(SlowDisk& disk) : SnapshotSink(/*with_checksum=*/false), disk_(disk) {}

 private:
  absl::Status Put(std::string_view) override {
    if (std::exchange(disk_.waits_at_write, false)) disk_.Wait();
    return absl::OkStatus();
  }
  absl::Status Complete() override {
    if (!is_waiting_at_write_) disk_.Wait();
    disk_.is_complete = true;
    return absl::OkStatus();
  }

  SlowDisk& disk_;
  const bool is_waiting_at_write_ = disk_.waits_at_write;
};

class BackgroundSnapshotTest : public testing::Test {
 protected:
  void Start() {
    snapshot_.emplace(std::make_unique<SlowSink>(disk_), engine_, SnapshotContents(), nullptr);
    while (snapshot_->HasWork()) snapshot_->Continue();
    disk_.reached.get_future().wait();
  }

  void EndThread() {
    disk_.may_continue.set_value();
    garbage_.clear();
  }

  static Settings WithoutSavePoints() {
    Settings settings;
    settings.save.points.clear();
    return settings;
  }

  std::vector<std::shared_ptr<void>> garbage_;
  Engine engine_{
      WithoutSavePoints(),
      AllCommands(),
      1,
      Millis(1'800'000'000'000),
      {.apply = [](const Settings&) { return absl::OkStatus(); },
       .stopwatch = [] { return Micros(0); },
       .wall_clock = [] { return Micros(0); },
       .sleep = [](Micros) {},
       .free_in_background =
           [this](std::shared_ptr<void> garbage) { garbage_.push_back(std::move(garbage)); },
       .executable = {},
       .config_file = {}}};
  SlowDisk disk_;
  std::optional<BackgroundSnapshot> snapshot_;
};

TEST_F(BackgroundSnapshotTest, IsGivenUpWithoutAWaitForTheDisk) {
  disk_.waits_at_write = true;
  Start();
  snapshot_.reset();  // the write continues only below
  EXPECT_EQ(garbage_.size(), 1u);
  EndThread();
  EXPECT_FALSE(disk_.is_complete) << "all was encoded, but the file must not replace a later one";
}

TEST_F(BackgroundSnapshotTest, ThatCompletesItsFileIsAwaited) {
  Start();
  std::thread disk([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    disk_.may_continue.set_value();
  });
  snapshot_.reset();
  EXPECT_TRUE(disk_.is_complete) << "a later file may get the same name";
  disk.join();
}

}  // namespace
}  // namespace zsetd
