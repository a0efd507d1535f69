#include "server/persistence/snapshot/load_turns.h"

#include <cassert>
#include <utility>

#include "server/engine/support/start_thread.h"

namespace zsetd {
namespace {

constexpr std::chrono::milliseconds kLongestTurn{2};  // requests wait for its end

}  // namespace

LoadTurns::LoadTurns(Load load, std::function<void()> on_request)
    : on_request_(std::move(on_request)) {
  absl::Status started = StartThread(thread_, [this, load = std::move(load)] {
    Finish(Begin() ? load(*this) : absl::CancelledError());
  });
  if (!started.ok()) Finish(std::move(started));
}

LoadTurns::~LoadTurns() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LoadTurns::Finish(absl::Status status) {
  const std::lock_guard lock(mutex_);
  turn_ = Turn::kNone;
  status_ = std::move(status);
  done_ = true;
  changed_.notify_all();
  if (on_request_) on_request_();
}

bool LoadTurns::WantsTurn() const {
  const std::lock_guard lock(mutex_);
  return turn_ == Turn::kWanted;
}

void LoadTurns::GiveTurn() {
  std::unique_lock lock(mutex_);
  if (turn_ != Turn::kWanted) return;
  turn_ = Turn::kGiven;
  turn_ends_ = std::chrono::steady_clock::now() + kLongestTurn;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ != Turn::kGiven; });
}

void LoadTurns::Await(std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return done_ || turn_ == Turn::kWanted; });
}

bool LoadTurns::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

absl::Status LoadTurns::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void LoadTurns::End() {
  const std::lock_guard lock(mutex_);
  assert(turn_ == Turn::kGiven || abandoned_);
  turn_ = Turn::kNone;
  changed_.notify_all();
}

bool LoadTurns::Begin() {
  std::unique_lock lock(mutex_);
  if (abandoned_) return false;
  turn_ = Turn::kWanted;
  changed_.notify_all();
  if (on_request_) on_request_();
  changed_.wait(lock, [this] { return turn_ == Turn::kGiven || abandoned_; });
  return !abandoned_;
}

bool LoadTurns::GoOn() {
  if (abandoned_) return false;
  if (std::chrono::steady_clock::now() < turn_ends_) return true;
  End();
  return Begin();
}

}  // namespace zsetd
