#include "server/engine/client.h"

namespace zsetd {

void Client::ResetState() {
  database = 0;
  no_evict = false;
  no_touch = false;
  reply_mode = ReplyMode::kOn;
  name.clear();
  reply.set_protocol(Protocol::kResp2);
}

}  // namespace zsetd
