#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/net/socket/socket.h"
#include "server/net/socket/tls.h"
#include "server/net/socket/tls_context.h"

namespace zsetd {

// A blocking connection to another server, for requests whose replies are one line each. While it
// writes requests it also reads the bytes that arrive, so the other side can always send its
// replies and continue to read.
class TargetConnection {
 public:
  enum class Result {
    kDone,
    kTimedOut,  // the other side did not respond in time
    kBroken,    // the other side closed, refused or reset the connection, or sent an invalid reply
    kUnreachable,  // no connection could be attempted, or it was not accepted in time
  };

  // Connects to a host by name or address. The timeout covers all of its addresses together, but
  // not the lookup of the name. On failure returns null, with the reason in `result`.
  // The connection uses TLS unless `tls` is null.
  static std::unique_ptr<TargetConnection> Open(std::string_view host, std::string_view port,
                                                Millis timeout, const TlsContext& tls,
                                                Result& result);

  // Sets the time limit of each later step: writing the next 64 KB, or reading the next line.
  void set_timeout(Millis timeout) { timeout_ = timeout; }

  // Whether the other side has closed the idle connection, or sent unexpected bytes.
  bool IsStale() const;

  // Writes bytes. The last 64 KB may stay in a buffer until Flush().
  Result Write(std::string_view bytes);
  Result Flush();

  // Takes the next line of a reply, without its line end. HasLine() returns whether the line has
  // already arrived.
  bool HasLine() const { return received_.find('\n', taken_) != std::string::npos; }
  Result ReadLine(std::string& line);

 private:
  static constexpr size_t kPiece = 64 << 10;
  static constexpr size_t kMostReceived = 16 << 20;  // of bytes that are not taken yet

  TargetConnection(int descriptor, const TlsContext& tls);

  Result ShakeHands(Millis timeout);
  Result WriteNow(std::string_view bytes);
  Result WritePiece(std::string_view piece);
  Result WriteBytes(std::string_view bytes, Millis timeout);
  Result Receive();
  void Decrypt(size_t count);

  Socket socket_;
  std::unique_ptr<Tls> tls_;  // null: without TLS
  Millis timeout_{0};
  std::string unsent_;
  std::string received_;
  size_t taken_ = 0;    // the bytes of `received_` that were taken
  bool ended_ = false;  // the other side will send nothing more
};

}  // namespace zsetd
