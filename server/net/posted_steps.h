#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "server/net/socket/poller.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

// Functions that other threads post to the thread of the commands. It calls them between the
// requests of a round, in the order of arrival, each one again as long as it returns true. A round
// spends 0.1 ms on them, or a single call if that takes longer.
class PostedSteps : public Polled, public std::enable_shared_from_this<PostedSteps> {
 public:
  using Step = std::function<bool()>;

  // `poller` outlives it.
  explicit PostedSteps(Poller& poller) : poller_(poller) {}

  // Takes part in the poller's rounds from now on.
  void Start();

  // May be called by any thread.
  void Post(Step step);

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override;
  void Serve() override;
  void Send() override {}

  Poller& poller_;
  WakeSignal signal_;
  std::mutex mutex_;
  std::deque<Step> arrived_;  // guarded by `mutex_`
  std::deque<Step> steps_;
};

}  // namespace zsetd
