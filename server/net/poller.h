#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

class Poller;

// A connection as its poller sees it.
class Polled {
 public:
  virtual ~Polled() = default;

  virtual std::shared_ptr<Polled> Self() = 0;

  // The three steps of a round.
  virtual void Receive() = 0;  // takes what has arrived, sends what could not be sent before
  virtual void Serve() = 0;    // runs requests
  virtual void Send() = 0;     // sends the replies

 private:
  friend class Poller;
  uint32_t awaited_ = 0;  // epoll's events
  bool woken_ = false;
};

// Waits for all connections at once and serves those that are ready in rounds: each of them
// receives, then each is served, then each sends.
//
// Asio's way is one connection at a time, and to try to read before it waits, which fails whenever
// the client has all its replies. The replies of a round go out together, as in Redis: a client
// program with many connections finds, once it is awake, all of them answered instead of one, and
// to wake it costs the server more than to send. With Asio's way the recency list's commands, four
// at a time on 50 connections, took 1.4 us of CPU each instead of 1.0, and their sender 0.76
// instead of 0.47: a third of all (bench/versus --only recency).
class Poller {
 public:
  // Throws std::system_error if there are no descriptors left.
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;

  // Has `connection` take part in rounds when its descriptor can be read, or written, from now on;
  // with neither in none. False if the system has no memory for it. Whoever closes a descriptor
  // need not say so before.
  bool Watch(int descriptor, Polled& connection, bool reads, bool writes);

  // Has `connection` take part in the next round in any case, which is soon.
  void Wake(Polled& connection);

  // Waits until a connection is ready, or for `longest`, and runs a round with those that are, no
  // more than 128 of them, for who has been served is to have its replies soon; and with all that
  // were woken, who do not receive. False if a signal came.
  bool RunRound(Millis longest);

 private:
  static constexpr int kMostAtOnce = 128;

  void GatherReady(int count);
  void GatherWoken();

  int epoll_;
  std::array<epoll_event, kMostAtOnce> events_;
  std::vector<std::shared_ptr<Polled>> ready_;  // of the present round
  std::vector<std::shared_ptr<Polled>> woken_;  // of the next
};

}  // namespace zsetd
