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

  // Takes into `space` what has arrived, and does not wait; how much it is. 0 if nothing has. It is
  // an error that the other side has closed.
  absl::StatusOr<size_t> Receive(std::span<char> space);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace zsetd
