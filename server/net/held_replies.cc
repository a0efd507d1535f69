#include "server/net/held_replies.h"

#include <system_error>
#include <utility>

#include "server/net/session.h"

namespace zsetd {

void HeldReplies::Start() {
  if (poller_.Watch(signal_.descriptor(), *this, {.reads = true})) return;
  throw std::system_error(std::make_error_code(std::errc::not_enough_memory), "epoll_ctl");
}

// The signal is cleared before: if a connection was added too late for this round, its signal has
// not been sent yet.
void HeldReplies::Serve() {
  for (const auto& each : std::exchange(held_, {})) {
    if (const auto connection = each.lock()) connection->Wake();
  }
}

}  // namespace zsetd
