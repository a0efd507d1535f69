#pragma once

#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "server/net/socket/poller.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

class Session;

// The connections whose replies wait until the append-only log is durable. When the log's thread
// signals that more of the log is durable, all of these connections take part in a round of their
// threads. Each one sends its replies or continues to wait. Other users of the signal only make the
// poller return.
class HeldReplies : public Polled, public std::enable_shared_from_this<HeldReplies> {
 public:
  // The poller and the signal outlive this object.
  HeldReplies(Poller& poller, const WakeSignal& signal) : poller_(poller), signal_(signal) {}

  // Takes part in the poller's rounds from now on.
  void Start();

  // Registers the connection for the next signal only. May be called by any thread that is in the
  // engine and has just found that the replies must wait.
  void Add(std::weak_ptr<Session> connection) {
    assert(!connection.expired());
    held_.push_back(std::move(connection));
  }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override { signal_.Clear(); }
  void Serve() override;
  void Send() override {}

  Poller& poller_;
  const WakeSignal& signal_;
  std::vector<std::weak_ptr<Session>> held_;  // guarded by the engine's lock
};

}  // namespace zsetd
