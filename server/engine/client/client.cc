#include "server/engine/client/client.h"

#include <algorithm>

namespace zsetd {

bool Client::IsSubscriber() const {
  return std::any_of(listens_to_.begin(), listens_to_.end(),
                     [](const Names& names) { return !names.empty(); });
}

void Client::ResetState() {
  database = 0;
  no_evict = false;
  no_touch = false;
  reply_mode = ReplyMode::kOn;
  name.clear();
  reply.set_protocol(Protocol::kResp2);
}

}  // namespace zsetd
