#include "server/engine/client/client.h"

#include <algorithm>

namespace zsetd {

bool Client::IsSubscriber() const {
  return std::any_of(listens_to_.begin(), listens_to_.end(),
                     [](const Names& names) { return !names.empty(); });
}

bool Client::HoldsIdleBuffers(Millis now) const {
  constexpr Millis kQuiet{2'000};                // as Redis
  constexpr size_t kWorthwhile = 32u << 10;      // of room in an input that holds something
  constexpr size_t kEmptyWorthwhile = 8u << 10;  // of an empty one
  if (now - last_active < kQuiet) return false;
  if (UnsentBytes() == 0 && output.capacity() + sending_capacity > 0) return true;
  return input_capacity >= input_bytes + (input_bytes == 0 ? kEmptyWorthwhile : kWorthwhile);
}

void Client::DropBuffers() {
  transaction = Transaction();
  long_reply.reset();
  output = OutputBuffer();
  pending_pushes = OutputBuffer();
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
