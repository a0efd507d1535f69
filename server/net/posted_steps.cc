#include "server/net/posted_steps.h"

#include <cassert>
#include <iterator>
#include <system_error>
#include <utility>

#include "server/process/clock.h"

namespace zsetd {
namespace {

constexpr Micros kTimeInARound{100};

}  // namespace

void PostedSteps::Start() {
  if (poller_.Watch(signal_.descriptor(), *this, {.reads = true})) return;
  throw std::system_error(std::make_error_code(std::errc::not_enough_memory), "epoll_ctl");
}

void PostedSteps::Post(Step step) {
  assert(step != nullptr);
  const std::lock_guard lock(mutex_);
  arrived_.push_back(std::move(step));
  signal_.Send();
}

void PostedSteps::Receive() {
  signal_.Clear();
  const std::lock_guard lock(mutex_);
  steps_.insert(steps_.end(), std::make_move_iterator(arrived_.begin()),
                std::make_move_iterator(arrived_.end()));
  arrived_.clear();
}

void PostedSteps::Serve() {
  const Micros until = MonotonicNow() + kTimeInARound;
  while (!steps_.empty()) {
    if (!steps_.front()()) steps_.pop_front();
    if (MonotonicNow() >= until) break;
  }
  if (!steps_.empty()) poller_.Wake(*this);
}

}  // namespace zsetd
