#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "bench/load/results.h"
#include "bench/load/socket.h"

namespace zsetd {

// A client: sends a batch of requests, reads their replies, and is then idle until the next.
class Connection {
 public:
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.descriptor(); }
  bool idle() const { return awaited_ == 0; }

  // Sends this number of encoded requests, which were due at that time. Only when idle. Their bytes
  // are few enough for the socket's buffer, or server and client could wait for each other.
  absl::Status Send(std::string_view batch, size_t requests, TimePoint due);

  // Reads the arrived bytes and records each reply. An error reply of the server is an error of the
  // run, too.
  absl::Status OnReadable(Results& results);

 private:
  absl::Status TakeReplies(Results& results);

  Socket socket_;
  std::string received_;  // and not understood yet
  size_t awaited_ = 0;    // replies
  TimePoint due_;
};

}  // namespace zsetd
