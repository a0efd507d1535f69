#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "protocol/resp/output_buffer.h"
#include "server/net/socket/tls_context.h"

namespace zsetd {

// One end of a TLS connection, without a socket. One side takes and returns the bytes of the
// network, the other side those of requests and replies:
//
//   network -> Space(), Arrived() -> Decrypt() -> parser
//   network <- wire               <- Encrypt() <- replies
//
// So a session reads and writes in the same way with and without TLS. The handshake and the
// shutdown of TLS use the same functions.
class Tls {
 public:
  // The memory of one connection, including OpenSSL's: the maximum measured after a handshake and
  // after much traffic.
  static constexpr size_t kBytesUsed = 144u << 10;

  enum class Role { kServer, kClient };
  explicit Tls(const TlsContext& context, Role role = Role::kServer);

  // Continues the handshake with the arrived bytes. Decrypt() does so, too, but a client must call
  // this function to start the handshake.
  void ShakeHands();

  // The space for bytes of the network.
  std::span<char> Space() { return arrived_; }
  void Arrived(size_t count);

  // Writes decrypted input to `space` and returns the number of bytes; 0 if more bytes of the
  // network are needed, or if the connection has ended.
  size_t Decrypt(std::span<char> space);

  // Whether the other side has ended the TLS session, or an error occurred.
  bool ended() const { return ended_; }

  // A human-readable error, or empty.
  const std::string& error() const { return error_; }

  // Whether the handshake is done, so that output can be sent.
  bool CanSpeak() const { return SSL_is_init_finished(ssl_.get()) != 0 && error_.empty(); }

  // Adds bytes for the network to `wire`: first the TLS protocol's own records, then up to 1 MB of
  // `plain`, which are removed from it. Adds none of `plain` before the handshake ends.
  void Encrypt(OutputBuffer& plain, OutputBuffer& wire);
  bool HasOutput() const { return BIO_pending(output_) > 0; }

  // Whether more than 32 KB of the TLS protocol's own records wait for `Encrypt()`. Then no bytes
  // of the network should be read: the other side could request records without end and receive
  // none of them, by key updates, or by renegotiations, which are refused with a record each.
  // `kBytesUsed` includes this output.
  bool HoldsMuchOutput() const { return BIO_pending(output_) > kMuchOwnOutput; }

  // Announces the end of the output. Returns false if it was announced before.
  bool SayGoodbye();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  // With the records for one more read, less than the space for encrypted replies.
  static constexpr int kMuchOwnOutput = 32 << 10;

  size_t EncryptPart(OutputBuffer& plain, size_t most);
  void Fail(int result);

  std::unique_ptr<SSL, Free> ssl_;
  BIO* input_;  // `ssl_` owns both
  BIO* output_;
  std::array<char, 16 << 10> arrived_;
  std::string error_;
  bool ended_ = false;
  bool said_goodbye_ = false;
};

}  // namespace zsetd
