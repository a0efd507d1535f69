#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/util/time.h"
#include "server/net/socket/mutex.h"
#include "server/net/socket/wake_signal.h"

namespace zsetd {

class Poller;

// A connection in the view of its poller. A round has steps, which all its connections take one
// after another:
//
//   Receive │ LookAhead │ AnnounceShared, ServeShared │ Announce, Serve, Collect │ Send
//   no engine           │ while other threads use     │ while no other thread    │ no engine
//                       │ the engine, too             │ uses the engine          │
//
// The steps in the second column are taken only with RoundHooks::share. A connection for which
// ServeShared() returned true skips the third column.
class Polled {
 public:
  virtual ~Polled() = default;

  virtual std::shared_ptr<Polled> Self() = 0;

  virtual void Receive() = 0;  // reads arrived bytes, sends bytes that could not be sent before

  // The requests that have been read, as far as they are known.
  struct Requests {
    size_t count = 0;
    bool may_share = false;  // they probably may be served in a shared turn
  };
  virtual Requests LookAhead() { return {}; }

  // Announces the requests for a shared turn, if they may be served there. Otherwise prefetches for
  // them, if there are at most `may_prefetch`. Returns the number of requests that it prefetched
  // for in that case.
  virtual size_t AnnounceShared(size_t may_prefetch) {
    (void)may_prefetch;
    return 0;
  }

  // Runs requests and takes the replies. Returns whether that was everything.
  virtual bool ServeShared() { return false; }

  virtual void Announce() {}  // reports the traffic, announces requests
  virtual void Serve() = 0;   // runs requests
  virtual void Collect() {}   // takes the replies that may be sent
  virtual void Send() = 0;    // sends them

  // Must be called after ServeShared() has returned true.
  void SkipTurnAlone() { served_ = true; }

 protected:
  // The events that the system reported in this round. If the connection neither reads nor writes,
  // they are the only sign that the other side has disconnected.
  bool has_broken() const { return has_broken_; }  // reset, timed out, or closed in both directions
  bool has_ended() const { return has_ended_; }    // only if Interest::end: no more will arrive

 private:
  friend class Poller;
  uint32_t awaited_ = 0;  // epoll's events
  bool watched_ = false;
  bool has_broken_ = false;
  bool has_ended_ = false;
  bool woken_ = false;
  bool served_ = false;              // in this round, in a shared turn
  bool woken_from_outside_ = false;  // guarded by Poller::mutex_
};

// The events for which a connection takes part in a round. A broken connection is always reported,
// even if it does not read at the moment. Otherwise the server would keep a connection whose client
// has disconnected.
struct Interest {
  bool reads = false;
  bool writes = false;
  bool end = false;  // the other side has closed its half, even if bytes are unread

  friend bool operator==(const Interest&, const Interest&) = default;
};

// The functions that a round calls: before a connection uses the engine, after all are served, and
// when no connection uses the engine any more.
//
// `share`, unless null, is called before. It takes the connections through the steps of a shared
// turn, and returns whether some of them need a turn alone. If not, the others are not called,
// except in a round without connections and after a signal.
struct RoundHooks {
  using Connections = std::span<const std::shared_ptr<Polled>>;

  std::function<void()> before_engine = [] {};
  std::function<void()> after_serving = [] {};
  std::function<void()> after_engine = [] {};
  std::function<bool(Connections)> share = nullptr;
};

// Waits for all connections together and serves the ready ones in rounds: all of them take the
// first step, then all take the second, and so on.
//
// Asio handles one connection at a time and tries to read before it waits. That read fails whenever
// the client has received all its replies. Here the replies of a round are sent together, as in
// Redis: a client program with many connections finds all replies when it wakes up, and waking it
// costs the server more than sending. docs/benchmarks.md has the difference (bench/compare/versus
// --only recency).
//
// A poller belongs to the thread that constructed it, or to the last one that called Adopt(). Other
// threads may wake its connections. They may also watch and forget a connection that uses its
// descriptor in turns alone only, while they hold the engine.
class Poller {
 public:
  // Calls `notify` when another thread has woken a connection and the poller's wait must end: it
  // sends the signal, now or soon. Throws std::system_error if there are no descriptors left.
  using Notify = std::function<void(const WakeSignal&)>;
  explicit Poller(Notify notify = [](const WakeSignal& signal) { signal.Send(); });
  ~Poller();
  Poller(const Poller&) = delete;

  // Adds `connection` to the rounds for the events of `interest` and for the end of the connection.
  // Each event is reported as long as it lasts. Returns false if the system has no memory for it. A
  // descriptor may be closed without notice to the poller.
  bool Watch(int descriptor, Polled& connection, Interest interest);

  // Removes the connection from rounds, except those started by `Wake()`. Idempotent.
  void Forget(int descriptor, Polled& connection);

  // Includes `connection` in the next round in any case, which is soon. May be called by any thread
  // that holds the engine, and keeps the connection alive until that round.
  void Wake(Polled& connection);

  // The poller belongs to the calling thread from now on, which must hold the engine.
  void Adopt() { owner_ = std::this_thread::get_id(); }
  // Until the next Adopt(), every thread counts as another one.
  void Disown() { owner_ = std::thread::id(); }
  bool IsOwn() const { return owner_ == std::this_thread::get_id(); }

  // Ends the poller's wait.
  const WakeSignal& signal() const { return signal_; }

  // Waits until a connection is ready, or for `longest`, and runs a round. The round includes at
  // most 128 ready connections, so that replies are sent soon. It also includes all woken
  // connections, which do not receive. Returns false if a signal interrupted the wait.
  bool RunRound(Micros longest, const RoundHooks& hooks);

  // When the last round ended its wait and began its work, in monotonic time.
  Micros round_began() const { return round_began_; }

 private:
  static constexpr int kMostAtOnce = 128;

  int Wait(Micros longest);
  void TakeMail();
  bool GatherReady(int count);
  void GatherWoken();
  void ServeAlone(const RoundHooks& hooks);

  const Notify notify_;
  std::thread::id owner_ = std::this_thread::get_id();
  WakeSignal signal_;
  int epoll_;
  bool waits_exactly_ = true;  // false: the system cannot wait for less than a millisecond
  Micros round_began_{0};
  std::array<epoll_event, kMostAtOnce> events_;
  std::vector<std::shared_ptr<Polled>> ready_;  // of this round
  std::vector<std::shared_ptr<Polled>> woken_;  // of the next round

  // Woken by other threads.
  Mutex mutex_;
  std::vector<std::shared_ptr<Polled>> mail_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> has_mail_ = false;  // written under `mutex_`
};

}  // namespace zsetd
