#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bench/load/socket.h"

namespace zsetd {

// A client that hears of a channel and throws away what it hears, so that the server has somebody
// to tell.
class Listener {
 public:
  explicit Listener(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.descriptor(); }
  absl::Status Subscribe(const std::string& channel);
  absl::Status OnReadable();

 private:
  Socket socket_;
};

}  // namespace zsetd
