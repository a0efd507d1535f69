#include "server/net/io_thread.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <csignal>
#include <optional>

#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/start_thread.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

// Deadlines of connections are checked this often.
constexpr Millis kBetweenChecks{100};

// A shared turn is taken to prefetch for at least this number of requests, and at most for as many
// as a turn alone may run.
constexpr size_t kWorthPrefetching = 4;
constexpr size_t kMostPrefetched = 128;

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
      poller_([&gate](const WakeSignal& signal)
                  ABSL_NO_THREAD_SAFETY_ANALYSIS { gate.SendOnLeaving(signal); }),
      port_(engine),
      hooks_(MakeHooks()) {
  engine_.store().gauge().AddSender(sending_);
}

RoundHooks IoThread::MakeHooks() {
  RoundHooks hooks;
  hooks.before_engine = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { Enter(); };
  hooks.after_serving = [this] { engine_.executor().EndRound(); };
  hooks.after_engine = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { Leave(); };
  if (engine_.settings().io_threads > 1) {
    hooks.share = [this](RoundHooks::Connections ready) { return Share(ready); };
  }
  return hooks;
}

IoThread::~IoThread() {
  assert(!thread_.joinable());
  engine_.store().gauge().RemoveSender(sending_);
}

// Signals interrupt the wait of the thread that runs the server, which handles them.
absl::Status IoThread::Start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  absl::Status started = StartThread(thread_, [this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
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
  sending_.store(0, std::memory_order_relaxed);
  round_ended_ = MonotonicNow();
  ++rounds_;
  rounds_took_ += round_ended_ - poller_.round_began();
  rounds_waited_ += waited_;
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

// Returns whether some connections need a turn alone.
bool IoThread::Share(RoundHooks::Connections ready) {
  size_t readers = 0;
  size_t others = 0;  // requests
  port_.ForgetReads();
  for (const auto& connection : ready) {
    const Polled::Requests requests = connection->LookAhead();
    requests.may_share ? ++readers : others += requests.count;
  }
  const bool prefetches = others >= kWorthPrefetching && port_.Prefetches();
  if ((readers == 0 && !prefetches) || !EnterShared()) return true;
  size_t may_prefetch = kMostPrefetched;
  for (const auto& connection : ready) may_prefetch -= connection->AnnounceShared(may_prefetch);
  port_.FetchPrefetched();
  size_t left = ready.size();
  for (const auto& connection : ready) {
    if (!port_.IsShared()) break;
    if (!connection->ServeShared()) continue;
    connection->SkipTurnAlone();
    --left;
  }
  if (port_.IsShared()) LeaveShared();
  return left > 0;
}

// Returns false, without a turn, if requests must run alone at present.
bool IoThread::EnterShared() {
  turn_ = gate_.EnterShared();
  NoteSharedTurn(turn_.waited);
  port_.set_in_network(false);
  if (port_.now() != UnixNow()) AdvanceTime();
  if (port_.BeginShared(port_.now())) [[likely]]
    return true;
  LeaveShared();
  return false;
}

// Requests that have arrived later must see a later time, so shared turns begin at the present one.
void IoThread::AdvanceTime() {
  if (gate_.TryUpgrade()) {
    Count();
  } else {
    LeaveShared();
    Enter();
  }
  port_.StartServing(UnixNow());
  engine_.executor().EndRound();
  const Micros now = MonotonicNow();
  before_leaving_(now);
  turn_ = gate_.Downgrade(now);
}

void IoThread::LeaveShared() {
  const Micros held = MonotonicNow() - turn_.began;
  shared_.held += held;
  shared_.longest_hold = std::max(shared_.longest_hold, held);
  port_.EndShared();
  port_.set_in_network(true);
  gate_.LeaveShared();
}

void IoThread::NoteSharedTurn(Micros waited) {
  ++shared_.turns;
  if (waited == Micros(0)) [[likely]]
    return;
  waited_ += waited;
  ++shared_.waits;
  shared_.waited += waited;
  shared_.longest_wait = std::max(shared_.longest_wait, waited);
}

// Adds what the thread has counted since its last turn alone.
void IoThread::Count() {
  engine_.metrics().stats().network += counters_;
  totals_.reads += counters_.reads;
  totals_.writes += counters_.writes;
  counters_ = {};
  engine_.metrics().RecordRounds(std::exchange(rounds_, 0), rounds_took_);
  totals_.busy += std::exchange(rounds_took_, Micros(0)) - std::exchange(rounds_waited_, Micros(0));
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

NetworkStatus::SharedTurns IoThread::SharedStatus() const {
  NetworkStatus::SharedTurns status = shared_;
  status.requests = port_.shared_requests();
  return status;
}

void IoThread::ResetStats() {
  totals_ = {};
  shared_ = {};
  port_.ResetRequests();
}

}  // namespace zsetd
