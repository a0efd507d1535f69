#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "protocol/resp/output_buffer.h"
#include "server/engine/client/client_output.h"
#include "server/engine/metrics/network_counters.h"
#include "server/net/socket/socket.h"
#include "server/net/socket/tls.h"

namespace zsetd {

// Sends a client's output in the order in which it was written. First it takes the output, while
// the engine runs; then it sends without the engine. With TLS the output is encrypted when it is
// sent, after the records of the TLS protocol itself.
class Sender {
 public:
  // All arguments outlive the sender. `tls` is null for a connection without TLS.
  Sender(const Socket& socket, Tls* tls, NetworkCounters& counters)
      : socket_(socket), tls_(tls), counters_(counters) {}

  // Takes the output that is to be sent next, unless earlier output is still unsent.
  void Take(ClientOutput& output);

  // Whether more output remained when Take() was called last.
  bool left_output() const { return left_output_; }

  // Sends some of the next part, at most 1 MB, as far as the socket takes it now. Returns false if
  // the connection has broken.
  bool Send();

  // Whether the socket has taken a part and another one follows: Send() must be called again.
  bool HasNextPart() const { return !IsHeldUp() && MayEncrypt(); }

  // Frees empty buffers.
  void Shrink();

  // Frees the unsent bytes. The connection must be closed afterwards.
  void Drop();

  // Whether the socket did not take the whole part. Send() must be called again when the socket is
  // writable.
  bool IsHeldUp() const { return !sending_.empty(); }

  // Whether all output that existed at the last Take() is sent, or cannot be sent because the TLS
  // handshake has failed.
  bool IsDone() const;

  // The bytes that were taken and not sent, and the bytes allocated for them.
  size_t unsent_bytes() const { return sending_.size() + plain_.size(); }
  size_t unsent_capacity() const { return sending_.capacity() + plain_.capacity(); }

  // The number of bytes sent since the last call.
  uint64_t TakeSent() { return std::exchange(sent_, 0); }

 private:
  bool MayEncrypt() const {
    return tls_ != nullptr && (tls_->HasOutput() || (!plain_.empty() && tls_->CanSpeak()));
  }
  bool NextPart();
  Socket::Result Write() const;
  void OnSent(size_t count);

  const Socket& socket_;
  Tls* const tls_;
  NetworkCounters& counters_;
  bool left_output_ = false;
  uint64_t sent_ = 0;
  OutputBuffer plain_;    // with TLS: taken and not encrypted
  OutputBuffer sending_;  // for the network
};

}  // namespace zsetd
