#pragma once

#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "protocol/resp/output_buffer.h"
#include "server/net/tls_context.h"

namespace zsetd {

// One end of a TLS connection, without a socket: bytes of the network go in and come out on one
// side, those of requests and replies on the other.
//
//   network -> Space(), Arrived() -> Decrypt() -> parser
//   network <- wire               <- Encrypt() <- replies
//
// So the session's own way of reading and writing is the same with TLS and without. The handshake
// and the shutdown of TLS take the same way.
class Tls {
 public:
  // The memory of one connection, including OpenSSL's: the measured maximum after a handshake and
  // after much traffic.
  static constexpr size_t kBytesUsed = 144u << 10;

  enum class Role { kServer, kClient };
  explicit Tls(const TlsContext& context, Role role = Role::kServer);

  // Continues the handshake with the arrived bytes. Reading does so, too, but a client's first
  // message must be requested.
  void ShakeHands();

  // Where bytes of the network are to be put.
  std::span<char> Space() { return arrived_; }
  void Arrived(size_t count);

  // Writes decrypted input to `space` and returns its number of bytes; none if more of the network
  // is needed, or if the connection is at its end.
  size_t Decrypt(std::span<char> space);

  // Whether the client has ended the TLS session, or an error occurred.
  bool ended() const { return ended_; }

  // A human-readable error; empty without one.
  const std::string& error() const { return error_; }

  // Whether the handshake is done, so replies can be sent.
  bool CanSpeak() const { return SSL_is_init_finished(ssl_.get()) != 0 && error_.empty(); }

  // Adds to `wire` the bytes for the network: the protocol's own records, then up to 1 MB of
  // `plain`, which are dropped from it; none before the handshake ends.
  void Encrypt(OutputBuffer& plain, OutputBuffer& wire);
  bool HasOutput() const { return BIO_pending(output_) > 0; }

  // Announces the end of the output. False if it was announced before.
  bool SayGoodbye();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  size_t EncryptPart(OutputBuffer& plain, size_t most);
  void Fail(int result);

  std::unique_ptr<SSL, Free> ssl_;
  BIO* input_;  // both belong to ssl_
  BIO* output_;
  std::array<char, 16 << 10> arrived_;
  std::string error_;
  bool ended_ = false;
  bool said_goodbye_ = false;
};

}  // namespace zsetd
