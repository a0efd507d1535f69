#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// A connection to a port of this machine. The destructor closes it.
class Socket {
 public:
  static absl::StatusOr<Socket> ConnectTo(int port);

  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  int descriptor() const { return descriptor_; }

  // Sends all bytes. Blocks until the kernel has accepted them.
  absl::Status Send(std::string_view bytes);

  // Reads the arrived bytes into `space` without waiting, and returns their number, possibly 0.
  // Returns an error if the peer has closed the connection.
  absl::StatusOr<size_t> Receive(std::span<char> space);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace zsetd
