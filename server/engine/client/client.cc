#include "server/engine/client/client.h"

namespace zsetd {

bool Client::HoldsIdleBuffers(Millis now) const {
  constexpr Millis kQuiet{2'000};                // as Redis
  constexpr size_t kWorthwhile = 32u << 10;      // of room in an input that holds something
  constexpr size_t kEmptyWorthwhile = 8u << 10;  // of an empty one
  if (now - connection.last_active < kQuiet) return false;
  const size_t output_capacity = output.buffer.capacity() + output.sending_capacity;
  if (output.UnsentBytes() == 0 && output_capacity > 0) return true;
  const size_t room = connection.input_bytes == 0 ? kEmptyWorthwhile : kWorthwhile;
  return connection.input_capacity >= connection.input_bytes + room;
}

void Client::DropBuffers() {
  transaction = Transaction();
  output.long_reply.reset();
  output.buffer = OutputBuffer();
  output.pending_pushes = OutputBuffer();
}

void Client::ResetState() {
  database = 0;
  no_evict = false;
  no_touch = false;
  asking = false;
  read_only = false;
  output.reply_mode = ClientOutput::ReplyMode::kOn;
  reply.set_protocol(Protocol::kResp2);
  name.clear();
}

}  // namespace zsetd
