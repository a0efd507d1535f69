#pragma once

#include <cstddef>

#include "protocol/resp/output_buffer.h"
#include "server/engine/client/client.h"
#include "server/engine/metrics/stats.h"
#include "server/net/socket.h"
#include "server/net/tls.h"

namespace zsetd {

// Sends a client's output in the order in which it was written. With TLS it is encrypted and
// follows the records of the TLS protocol.
class Sender {
 public:
  // All of them outlive the sender. `tls` is null for a connection in the clear.
  Sender(Client& client, const Socket& socket, Tls* tls, Stats& stats)
      : client_(client), socket_(socket), tls_(tls), stats_(stats) {}

  // Sends as much as the socket takes now. False if the connection has broken.
  bool Send();

  // Frees buffers that hold nothing.
  void Shrink();

  // Frees the unsent bytes. The connection must close.
  void Drop();

  // Whether the socket would not take all: Send() is to be called again when it does.
  bool IsHeldUp() const { return !sending_.empty(); }

  // Whether it stopped for others' sake: Send() is to be called again soon.
  bool has_more() const { return has_more_; }

  // Whether all output is sent, or cannot be, because the TLS handshake has failed.
  bool IsDone() const;

 private:
  bool HasOutput() const { return !client_.output.buffer.empty() || (tls_ && tls_->HasOutput()); }
  bool TakeOutput();
  Socket::Result Write() const;
  void OnSent(size_t count);

  Client& client_;
  const Socket& socket_;
  Tls* tls_;
  Stats& stats_;
  bool has_more_ = false;
  OutputBuffer sending_;  // taken from client_.output.buffer
};

}  // namespace zsetd
