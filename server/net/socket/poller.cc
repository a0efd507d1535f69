#include "server/net/socket/poller.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <system_error>
#include <utility>

#include "server/process/clock.h"

namespace zsetd {
namespace {

// epoll reports EPOLLERR and EPOLLHUP in any case.
uint32_t Events(Interest interest) {
  return (interest.reads ? uint32_t{EPOLLIN} : 0) | (interest.writes ? uint32_t{EPOLLOUT} : 0) |
         (interest.end ? uint32_t{EPOLLRDHUP} : 0);
}

}  // namespace

// The signal's event has no connection.
Poller::Poller(Notify notify) : notify_(std::move(notify)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, signal_.descriptor(), &event) == 0) return;
  const int error = errno;
  close(epoll_);
  throw std::system_error(error, std::system_category(), "epoll_ctl");
}

Poller::~Poller() { close(epoll_); }

bool Poller::Watch(int descriptor, Polled& connection, Interest interest) {
  assert(descriptor >= 0);
  const uint32_t events = Events(interest);
  if (connection.watched_ && connection.awaited_ == events) return true;
  if (!connection.watched_ && !IsOwn()) Wake(connection);  // so that an event finds it complete
  epoll_event event{.events = events, .data = {.ptr = &connection}};
  const int operation = connection.watched_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_, operation, descriptor, &event) != 0) return false;
  connection.watched_ = true;
  connection.awaited_ = events;
  return true;
}

void Poller::Forget(int descriptor, Polled& connection) {
  if (!std::exchange(connection.watched_, false)) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr);
}

void Poller::Wake(Polled& connection) {
  if (IsOwn()) {
    if (!std::exchange(connection.woken_, true)) woken_.push_back(connection.Self());
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (std::exchange(connection.woken_from_outside_, true)) return;
    mail_.push_back(connection.Self());
    if (has_mail_.exchange(true)) return;  // the first one has notified
  }
  notify_(signal_);
}

// A signal may still be on its way for connections that are taken here. It only starts a round.
void Poller::TakeMail() {
  if (!has_mail_.load(std::memory_order_acquire)) return;
  const MutexLock lock(mutex_);
  has_mail_ = false;
  for (auto& connection : mail_) {
    connection->woken_from_outside_ = false;
    if (!std::exchange(connection->woken_, true)) woken_.push_back(std::move(connection));
  }
  mail_.clear();
}

// Linux before 5.11, and some sandboxes that restrict system calls, only have epoll_wait, which
// waits for whole milliseconds.
int Poller::Wait(Micros longest) {
  assert(longest >= Micros(0));  // epoll waits without limit for a negative time
  if (waits_exactly_ && longest > Micros(0)) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
    const timespec timeout = {.tv_sec = seconds.count(),
                              .tv_nsec = std::chrono::nanoseconds(longest - seconds).count()};
    const int count = epoll_pwait2(epoll_, events_.data(), kMostAtOnce, &timeout, nullptr);
    waits_exactly_ = count >= 0 || (errno != ENOSYS && errno != EPERM);
    if (waits_exactly_) return count;
  }
  const auto timeout = static_cast<int>(std::chrono::ceil<Millis>(longest).count());
  return epoll_wait(epoll_, events_.data(), kMostAtOnce, timeout);
}

bool Poller::RunRound(Micros longest, const RoundHooks& hooks) {
  assert(ready_.empty());  // a round does not run inside another
  const bool has_work = !woken_.empty() || has_mail_.load(std::memory_order_relaxed);
  const int count = Wait(has_work ? Micros(0) : longest);
  round_began_ = MonotonicNow();
  TakeMail();
  const bool is_signaled = GatherReady(std::max(count, 0));
  for (const auto& connection : ready_) connection->Receive();
  GatherWoken();
  const bool needs_turn = hooks.share == nullptr || ready_.empty() || hooks.share(ready_);
  if (needs_turn || is_signaled) ServeAlone(hooks);
  for (const auto& connection : ready_) {
    connection->served_ = false;
    connection->Send();
  }
  ready_.clear();
  return count >= 0;
}

void Poller::ServeAlone(const RoundHooks& hooks) {
  const auto for_each = [this](void (Polled::*step)()) {
    for (const auto& connection : ready_) {
      if (!connection->served_) (*connection.*step)();
    }
  };
  hooks.before_engine();
  for_each(&Polled::Announce);
  for_each(&Polled::Serve);
  hooks.after_serving();
  for_each(&Polled::Collect);
  hooks.after_engine();
}

// Takes a reference to each connection before any of them runs, because one connection may end
// another. Returns whether the poller's signal was sent.
bool Poller::GatherReady(int count) {
  assert(0 <= count && count <= kMostAtOnce);
  bool is_signaled = false;
  for (int i = 0; i < count; ++i) {
    if (events_[i].data.ptr == nullptr) {
      signal_.Clear();  // mail that arrived before this call makes the next wait short
      is_signaled = true;
      continue;
    }
    auto& connection = *static_cast<Polled*>(events_[i].data.ptr);
    ready_.push_back(connection.Self());
    connection.woken_ = false;  // this round includes it already
    connection.has_broken_ = (events_[i].events & (EPOLLERR | EPOLLHUP)) != 0;
    connection.has_ended_ = (events_[i].events & EPOLLRDHUP) != 0;
  }
  return is_signaled;
}

// Puts the woken connections first: sending their output may free the memory that others need.
void Poller::GatherWoken() {
  std::erase_if(woken_, [](const auto& each) { return !std::exchange(each->woken_, false); });
  ready_.insert(ready_.begin(), std::make_move_iterator(woken_.begin()),
                std::make_move_iterator(woken_.end()));
  woken_.clear();
}

}  // namespace zsetd
