#include "server/engine/client.h"

namespace zsetd {

void Client::ResetState() {
  transaction = Transaction();
  database = 0;
  no_evict = false;
  reply_mode = ReplyMode::kOn;
  name.clear();
  reply.set_protocol(Protocol::kResp2);
}

}  // namespace zsetd
