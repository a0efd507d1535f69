#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "server/net/socket/stream_socket.h"

namespace zsetd {

// The descriptor of a connection, for use with a Poller. No call blocks. The destructor closes it.
class Socket {
 public:
  enum class State {
    kDone,    // some bytes were transferred
    kNotNow,  // no bytes were transferred; the poller reports when to try again
    kEnded,   // the other side sends nothing more
    kBroken,  // the connection is closed
  };

  struct Result {
    State state;
    size_t count;
  };

  Socket() = default;  // no connection

  // Takes the connection from Asio, which must not wait for it any more.
  explicit Socket(StreamSocket accepted);
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket() { Close(); }

  int descriptor() const { return descriptor_; }

  // `space`, `bytes` and `pieces` are not empty. A call writes a little more than 1 MB at most:
  // while the other side reads as fast as bytes are written, the system would take much more.
  Result Read(std::span<char> space) const;
  Result Write(std::string_view bytes) const;
  Result Write(std::span<const std::string_view> pieces) const;  // in one call; at most 64 pieces

  // Whether the other side has closed its half and all bytes that it sent are read.
  bool HasEnded() const;

  // The number of bytes that have arrived and are unread.
  size_t Unread() const;

  // Whether the other side's system has not yet acknowledged all written bytes.
  bool HasUnacknowledged() const;

  void EndOutput() const;  // reports the end of output to the other side
  void Break() const;      // ends input and output

  void Close();

 private:
  int descriptor_ = -1;  // -1: none, or closed
};

}  // namespace zsetd
