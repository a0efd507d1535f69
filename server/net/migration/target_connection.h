#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "server/net/socket.h"

namespace zsetd {

// A connection to another server, on which calls block: for requests and their replies of one line
// each. Bytes that arrive while requests are written are read immediately, so the other side never
// waits for its replies to be read before it continues to read.
class TargetConnection {
 public:
  enum class Result {
    kDone,
    kTimedOut,     // the other side did nothing in time
    kBroken,       // it has closed, refused or reset the connection, or sent an invalid reply
    kUnreachable,  // no connection could be attempted, or it was not accepted in time
  };

  // Connects to a host by name or address. The timeout is for all of its addresses together; to
  // find them may take longer. Null with the reason in `result`.
  static std::unique_ptr<TargetConnection> Open(std::string_view host, std::string_view port,
                                                Millis timeout, Result& result);

  // The limit of each further call: to write the next 64 KB, or to read the next line.
  void set_timeout(Millis timeout) { timeout_ = timeout; }

  // Whether the other side has closed the idle connection, or sent unexpected bytes.
  bool IsStale() const;

  // Writes bytes, the last 64 KB of which may stay here until Flush().
  Result Write(std::string_view bytes);
  Result Flush();

  // Takes the next line of a reply, without its end. HasLine() returns whether it has already
  // arrived.
  bool HasLine() const { return received_.find('\n', taken_) != std::string::npos; }
  Result ReadLine(std::string& line);

 private:
  static constexpr size_t kPiece = 64 << 10;
  static constexpr size_t kMostReceived = 16 << 20;  // and not taken

  explicit TargetConnection(int descriptor) : socket_(descriptor) {}

  Result WriteNow(std::string_view bytes);
  Result WritePiece(std::string_view piece);
  Result Receive();

  Socket socket_;
  Millis timeout_{0};
  std::string unsent_;
  std::string received_;
  size_t taken_ = 0;    // of the received bytes
  bool ended_ = false;  // nothing more will be received
};

}  // namespace zsetd
