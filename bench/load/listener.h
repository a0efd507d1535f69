#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "bench/load/socket.h"

namespace zsetd {

// A subscriber that discards its messages.
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
