#include "server/net/io_thread.h"

#include <pthread.h>

#include <cassert>
#include <chrono>
#include <csignal>
#include <optional>

#include "server/engine/support/allocator_stats.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

// Deadlines of connections are checked this often.
constexpr Millis kBetweenChecks{100};

// The counts of jemalloc's memory of the calling thread, during the lifetime of this object.
class CountedThread {
 public:
  explicit CountedThread(MemoryGauge& gauge) : gauge_(gauge) { gauge_.AddThread(counts_); }
  CountedThread(const CountedThread&) = delete;
  ~CountedThread() { gauge_.RemoveThread(counts_); }

 private:
  MemoryGauge& gauge_;
  const ThreadCounts counts_ = CountsOfThisThread();
};

}  // namespace

IoThread::IoThread(int number, Engine& engine, EngineGate& gate,
                   std::function<void(Micros)> before_leaving)
    : number_(number),
      engine_(engine),
      gate_(gate),
      before_leaving_(std::move(before_leaving)),
      poller_([&gate](const WakeSignal& signal) { gate.SendOnLeaving(signal); }),
      port_(engine),
      hooks_{.before_engine = [this] { Enter(); },
             .after_serving = [this] { engine_.executor().EndRound(); },
             .after_engine = [this] { Leave(); }} {}

IoThread::~IoThread() { assert(!thread_.joinable()); }

// Signals interrupt the wait of the thread that runs the server, which handles them.
void IoThread::Start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void IoThread::Stop() {
  if (!thread_.joinable()) return;
  stops_ = true;
  poller_.signal().Send();
  thread_.join();
}

void IoThread::Run() {
  Enter();
  poller_.Adopt();
  std::optional<CountedThread> counted(engine_.store().gauge());
  Leave();
  while (!stops_) RunRound(kBetweenChecks);
  Enter();
  counted.reset();
  Leave();
}

bool IoThread::RunRound(Micros longest) {
  waited_ = Micros(0);
  const bool uninterrupted = poller_.RunRound(longest, hooks_);
  round_ended_ = MonotonicNow();
  round_took_ = round_ended_ - poller_.round_began();
  round_waited_ = waited_;
  has_run_round_ = true;
  return uninterrupted;
}

void IoThread::Enter() {
  const Micros waited = gate_.Enter();
  port_.set_in_network(false);
  Count();
  waited_ += waited;
  const Micros now = gate_.lock().locked_at();
  if (now >= next_check_) CloseLate(now);
}

void IoThread::Leave() {
  const Micros now = MonotonicNow();
  before_leaving_(now);
  port_.set_in_network(true);
  gate_.Leave(now);
}

// Adds what the thread has counted since its last turn.
void IoThread::Count() {
  engine_.metrics().stats().network += counters_;
  totals_.reads += counters_.reads;
  totals_.writes += counters_.writes;
  counters_ = {};
  if (!std::exchange(has_run_round_, false)) return;
  engine_.metrics().RecordRound(round_took_);
  totals_.busy += round_took_ - round_waited_;
}

void IoThread::CloseLate(Micros now) {
  next_check_ = now + kBetweenChecks;
  handshakes_.CloseLate(now);
  closes_.CloseLate(now);
}

NetworkStatus::Thread IoThread::Status() const {
  NetworkStatus::Thread status = totals_;
  status.clients = connections_;
  status.requests = port_.requests();
  return status;
}

void IoThread::ResetStats() {
  totals_ = {};
  port_.ResetRequests();
}

}  // namespace zsetd
