#include "server/engine/services/background_task.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace zsetd {
namespace {

// Appends its name and the name of each call to a list.
class NotingTask : public BackgroundTask {
 public:
  NotingTask(std::string name, std::vector<std::string>& calls) : name_(name), calls_(calls) {}
  void Tick(Micros budget) override {
    calls_.push_back(name_ + " tick " + std::to_string(budget.count()));
  }
  bool HasWork() const override { return has_work; }
  void EndRound() override { calls_.push_back(name_ + " end"); }

  bool has_work = false;

 private:
  const std::string name_;
  std::vector<std::string>& calls_;
};

TEST(BackgroundTasks, AreCalledInTheirOrder) {
  std::vector<std::string> calls;
  BackgroundTasks tasks;
  NotingTask a("a", calls);
  NotingTask b("b", calls);
  const Installation first = tasks.Add(a);
  const Installation second = tasks.Add(b);
  tasks.Tick(Micros(7));
  tasks.EndRound();
  EXPECT_EQ(calls, (std::vector<std::string>{"a tick 7", "b tick 7", "a end", "b end"}));
}

TEST(BackgroundTasks, HaveWorkIfOneHas) {
  std::vector<std::string> calls;
  BackgroundTasks tasks;
  EXPECT_FALSE(tasks.HasWork());
  BackgroundTask idle;
  NotingTask busy("busy", calls);
  const Installation first = tasks.Add(idle);
  const Installation second = tasks.Add(busy);
  EXPECT_FALSE(tasks.HasWork());
  busy.has_work = true;
  EXPECT_TRUE(tasks.HasWork());
}

TEST(BackgroundTasks, ARemovedTaskIsNotCalled) {
  std::vector<std::string> calls;
  BackgroundTasks tasks;
  NotingTask a("a", calls);
  NotingTask b("b", calls);
  std::optional<Installation> first(tasks.Add(a));
  const Installation second = tasks.Add(b);
  first.reset();
  tasks.EndRound();
  EXPECT_EQ(calls, (std::vector<std::string>{"b end"}));
}

}  // namespace
}  // namespace zsetd
