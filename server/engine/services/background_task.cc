#include "server/engine/services/background_task.h"

#include <algorithm>
#include <cassert>

namespace zsetd {

Installation BackgroundTasks::Add(BackgroundTask& task) {
  assert(std::ranges::count(tasks_, &task) == 0);
  tasks_.push_back(&task);
  return Installation([this, &task] { std::erase(tasks_, &task); });
}

void BackgroundTasks::Tick(Micros budget) const {
  for (BackgroundTask* const task : tasks_) task->Tick(budget);
}

bool BackgroundTasks::HasWork() const {
  return std::ranges::any_of(tasks_, [](const BackgroundTask* task) { return task->HasWork(); });
}

void BackgroundTasks::EndRound() const {
  for (BackgroundTask* const task : tasks_) task->EndRound();
}

void BackgroundTasks::OnLeave(Client& client) const {
  for (BackgroundTask* const task : tasks_) task->OnLeave(client);
}

}  // namespace zsetd
