#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// A connection to a port of this machine, which it closes when it goes.
class Socket {
 public:
  static absl::StatusOr<Socket> ConnectTo(int port);

  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&&) = delete;
  ~Socket();

  int descriptor() const { return descriptor_; }

  // Returns when the kernel has taken all of it.
  absl::Status Send(std::string_view bytes);

  // Reads the arrived bytes into `space` without waiting, and returns their number, possibly 0. A
  // connection closed by the peer is an error.
  absl::StatusOr<size_t> Receive(std::span<char> space);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace zsetd
