#pragma once

#include <cstddef>

#include "protocol/resp/output_buffer.h"
#include "server/engine/client/client.h"
#include "server/engine/metrics/stats.h"
#include "server/net/socket/socket.h"
#include "server/net/socket/tls.h"

namespace zsetd {

// Sends a client's output in the order in which it was written. With TLS the output is encrypted,
// and sent after the records of the TLS protocol itself.
class Sender {
 public:
  // All arguments outlive the sender. `tls` is null for a connection without TLS.
  Sender(Client& client, const Socket& socket, Tls* tls, Stats& stats)
      : client_(client), socket_(socket), tls_(tls), stats_(stats) {}

  // Sends as much as the socket takes now. Returns false if the connection has broken.
  bool Send();

  // Frees empty buffers.
  void Shrink();

  // Frees the unsent bytes. The connection must be closed afterwards.
  void Drop();

  // Whether the socket did not take everything. Send() must be called again when the socket is
  // writable.
  bool IsHeldUp() const { return !sending_.empty(); }

  // Whether Send() stopped so that other clients are served. It must be called again soon.
  bool has_more() const { return has_more_; }

  // Whether all output is sent, or cannot be sent because the TLS handshake has failed.
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
