#include "server/net/poller.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace zsetd {
namespace {

uint32_t Events(bool reads, bool writes) {
  return (reads ? uint32_t{EPOLLIN} : 0) | (writes ? uint32_t{EPOLLOUT} : 0);
}

// From one set of awaited events to another; with none the kernel is not to tell even of the end.
int Operation(uint32_t before, uint32_t after) {
  if (after == 0) return EPOLL_CTL_DEL;
  return before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
}

}  // namespace

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::system_error(errno, std::system_category(), "epoll_create1");
}

Poller::~Poller() { close(epoll_); }

bool Poller::Watch(int descriptor, Polled& connection, bool reads, bool writes) {
  const uint32_t events = Events(reads, writes);
  const uint32_t before = connection.awaited_;
  if (before == events) return true;
  epoll_event event{.events = events, .data = {.ptr = &connection}};
  if (epoll_ctl(epoll_, Operation(before, events), descriptor, &event) != 0) return false;
  connection.awaited_ = events;
  return true;
}

void Poller::Wake(Polled& connection) {
  if (std::exchange(connection.woken_, true)) return;
  woken_.push_back(connection.Self());
}

bool Poller::RunRound(Millis longest) {
  const int timeout = woken_.empty() ? static_cast<int>(longest.count()) : 0;
  const int count = epoll_wait(epoll_, events_.data(), kMostAtOnce, timeout);
  GatherReady(std::max(count, 0));
  for (const auto& connection : ready_) connection->Receive();
  GatherWoken();
  for (const auto& connection : ready_) connection->Serve();
  for (const auto& connection : ready_) connection->Send();
  ready_.clear();
  return count >= 0;
}

// Holds on to all of them before any is touched, for one may end another.
void Poller::GatherReady(int count) {
  for (int i = 0; i < count; ++i) {
    auto& connection = *static_cast<Polled*>(events_[i].data.ptr);
    ready_.push_back(connection.Self());
    connection.woken_ = false;  // it takes part as it is
  }
}

void Poller::GatherWoken() {
  for (auto& connection : woken_) {
    if (std::exchange(connection->woken_, false)) ready_.push_back(std::move(connection));
  }
  woken_.clear();
}

}  // namespace zsetd
