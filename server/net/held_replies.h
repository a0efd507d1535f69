#pragma once

#include <memory>
#include <vector>

#include "server/net/socket/poller.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

// The connections whose replies wait until the append-only log is durable. When the log's thread
// signals that more of the log is durable, all of these connections take part in a round. Each one
// sends its replies or continues to wait. Other users of the signal only make the poller return.
class HeldReplies : public Polled, public std::enable_shared_from_this<HeldReplies> {
 public:
  // The poller and the signal outlive this object.
  HeldReplies(Poller& poller, const WakeSignal& signal) : poller_(poller), signal_(signal) {}

  // Takes part in the poller's rounds from now on.
  void Start();

  // Registers the connection for the next signal only.
  void Add(std::weak_ptr<Polled> connection) { held_.push_back(std::move(connection)); }

 private:
  std::shared_ptr<Polled> Self() override { return shared_from_this(); }
  void Receive() override;
  void Serve() override {}
  void Send() override {}

  Poller& poller_;
  const WakeSignal& signal_;
  std::vector<std::weak_ptr<Polled>> held_;
};

}  // namespace zsetd
