#include "server/net/held_replies.h"

#include <system_error>
#include <utility>

namespace zsetd {

void HeldReplies::Start() {
  if (poller_.Watch(signal_.descriptor(), *this, {.reads = true})) return;
  throw std::system_error(std::make_error_code(std::errc::not_enough_memory), "epoll_ctl");
}

void HeldReplies::Receive() {
  signal_.Clear();
  for (const auto& each : std::exchange(held_, {})) {
    if (const auto connection = each.lock()) poller_.Wake(*connection);
  }
}

}  // namespace zsetd
