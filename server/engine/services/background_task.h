#pragma once

#include <vector>

#include "core/util/time.h"
#include "server/engine/services/installation.h"

namespace zsetd {

class Client;

// The work of a service between requests. The executor calls these functions, never while a command
// runs. The defaults do nothing.
class BackgroundTask {
 public:
  virtual ~BackgroundTask() = default;

  // Does a part of the due work, in about `budget` or a millisecond. Not called while a script is
  // suspended.
  virtual void Tick(Micros budget) { (void)budget; }

  // Whether work is due, so that Tick() must be called immediately.
  virtual bool HasWork() const { return false; }

  // Called after a round of requests, before its replies and effects are sent.
  virtual void EndRound() {}

  // The client leaves. It is valid until the function returns.
  virtual void OnLeave(Client& client) { (void)client; }
};

// The background tasks of an engine, called in the order in which they were added.
class BackgroundTasks {
 public:
  BackgroundTasks() = default;
  BackgroundTasks(const BackgroundTasks&) = delete;

  // Calls the task until the installation is destroyed. Both are destroyed before this object.
  // Precondition: the task is not added yet.
  Installation Add(BackgroundTask& task);

  void Tick(Micros budget) const;
  bool HasWork() const;
  void EndRound() const;
  void OnLeave(Client& client) const;

 private:
  std::vector<BackgroundTask*> tasks_;
};

}  // namespace zsetd
