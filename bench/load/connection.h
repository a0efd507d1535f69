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

// A client. It sends a batch of requests, reads their replies, and is then idle until the next
// batch.
class Connection {
 public:
  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.descriptor(); }
  bool idle() const { return awaited_ == 0; }

  // Sends `requests` encoded requests, which were due at `due`. The connection must be idle. The
  // batch must fit the socket's buffer; otherwise server and client could wait for each other.
  absl::Status Send(std::string_view batch, size_t requests, TimePoint due);

  // Reads the arrived bytes and records each reply. Returns an error if a reply is an error.
  absl::Status OnReadable(Results& results);

 private:
  absl::Status TakeReplies(Results& results);

  Socket socket_;
  std::string received_;  // bytes that are not parsed yet
  size_t awaited_ = 0;    // the number of replies
  TimePoint due_;
};

}  // namespace zsetd
