#pragma once

#include <memory>
#include <vector>

#include "server/net/poller.h"
#include "server/net/wake_signal.h"

namespace zsetd {

// The connections whose replies wait for the append-only log to be durable. When the log's thread
// signals that more is, all of them take part in a round, and send, or wait on. Signals of others
// have only the poller return.
class HeldReplies : public Polled, public std::enable_shared_from_this<HeldReplies> {
 public:
  // Both outlive it.
  HeldReplies(Poller& poller, const WakeSignal& signal) : poller_(poller), signal_(signal) {}

  // Takes part in the poller's rounds from now on.
  void Start();

  // The connection is to send when there is news. Once a round is enough.
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
