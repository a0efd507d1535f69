#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "protocol/resp/output_buffer.h"
#include "server/engine/client/long_reply.h"
#include "server/engine/client/output_source.h"
#include "server/engine/client/output_watch.h"

namespace zsetd {

class Client;

// Is notified of each message to a client, and closes the client if too much is unsent.
class OutputLimiter {
 public:
  virtual ~OutputLimiter() = default;
  virtual void OnMessage(Client& client) = 0;
};

// The output of a client: replies to its requests, and messages ("pushes") that it did not request.
//
//   reply ──► buffer ──► being sent ──► the network
//   message ─► buffer, or pending_pushes while a reply is in progress
struct ClientOutput {
  enum class ReplyMode { kOn, kOff, kSkipNext, kSkipThis };  // CLIENT REPLY

  OutputBuffer& buffer;                   // Caller::replies; not given to the network yet
  OutputBuffer pending_pushes;            // messages that wait for the running command's reply
  std::unique_ptr<LongReply> long_reply;  // while set, no further request of the client is run
  ReplyMode reply_mode = ReplyMode::kOn;

  size_t sending_bytes = 0;     // the network has been given these, and has not taken them yet
  size_t sending_capacity = 0;  // of the buffer that holds these
  size_t pushed_bytes = 0;      // of messages, since all had been sent

  // Where more comes from when all else has been sent; null: nowhere. It outlives its use here.
  OutputSource* source = nullptr;

  OutputWatch watch;  // of all that is unsent
  OutputWatch push_watch;

  // The buffer outlives this.
  explicit ClientOutput(OutputBuffer& replies) : buffer(replies) {}
  ClientOutput(const ClientOutput&) = delete;

  // The first 16 KB do not count as unread (client-output-buffer-limit): Redis's replies are
  // written to a buffer of that size first, which each client has.
  static constexpr size_t kUncounted = 16u << 10;
  static size_t Counted(size_t unsent_bytes) {
    return unsent_bytes - std::min(unsent_bytes, kUncounted);
  }

  // The bytes that can be sent immediately, and those that must wait for the end of a reply.
  size_t SendableBytes() const { return buffer.size() + sending_bytes; }
  size_t UnsentBytes() const { return SendableBytes() + pending_pushes.size(); }

  // The unsent bytes of messages, including replies between them.
  size_t UnsentPushBytes() const { return std::min(pushed_bytes, UnsentBytes()); }

  // The memory that a reply keeps of which the rest is written later.
  size_t LongReplyBytes() const { return long_reply ? long_reply->BytesUsed() : 0; }

  // Whether present replies are sent.
  bool RepliesEnabled() const {
    return reply_mode == ReplyMode::kOn || reply_mode == ReplyMode::kSkipNext;
  }
};

}  // namespace zsetd
