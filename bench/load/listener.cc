#include "bench/load/listener.h"

#include <array>

namespace zsetd {

absl::Status Listener::Subscribe(const std::string& channel) {
  return socket_.Send("SUBSCRIBE " + channel + "\r\n");
}

absl::Status Listener::OnReadable() {
  std::array<char, 64u << 10> space;
  return socket_.Receive(space).status();
}

}  // namespace zsetd
