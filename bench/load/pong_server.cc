// A lower bound for the processor time of a server: one thread with epoll that replies +PONG to
// each request.
//
//   pong_server PORT
//
// It counts requests by their first byte '*', so a request must not contain another '*'. It is only
// meant for PING in RESP.

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

// Returns a socket that listens on a port of this machine, or -1.
int Listen(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  return bound && ::listen(listener, SOMAXCONN) == 0 ? listener : -1;
}

class PongServer {
 public:
  explicit PongServer(int listener) : listener_(listener) { Watch(listener); }

  [[noreturn]] void Run() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = ::epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) OnReadable(events[i].data.fd);
    }
  }

 private:
  void Watch(int descriptor) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void OnReadable(int descriptor) {
    if (descriptor == listener_) {
      Watch(::accept(listener_, nullptr, nullptr));
    } else {
      Answer(descriptor);
    }
  }

  void Answer(int client) {
    const ssize_t size = ::recv(client, received_.data(), received_.size(), 0);
    if (size <= 0) {
      ::close(client);
      return;
    }
    const auto requests = std::count(received_.begin(), received_.begin() + size, '*');
    replies_.clear();
    for (auto i = requests; i > 0; --i) replies_ += "+PONG\r\n";
    if (requests > 0) ::send(client, replies_.data(), replies_.size(), MSG_NOSIGNAL);
  }

  const int listener_;
  const int epoll_ = ::epoll_create1(0);
  std::array<char, 16u << 10> received_;
  std::string replies_;
};

}  // namespace

int main(int argc, char** argv) {
  const int listener = argc == 2 ? Listen(std::atoi(argv[1])) : -1;
  if (listener < 0) {
    std::cerr << "pong_server: cannot listen; usage: pong_server PORT\n";
    return 1;
  }
  PongServer(listener).Run();
}
