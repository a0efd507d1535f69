#pragma once

#include <chrono>
#include <map>
#include <string>

#include "tests/transcript/transcript_player.h"

namespace zsetd {

// A server that listens on a port of this machine. Time passes by sleeping.
class SocketPeer : public Peer {
 public:
  explicit SocketPeer(int port) : port_(port) {}
  SocketPeer(const SocketPeer&) = delete;
  SocketPeer& operator=(const SocketPeer&) = delete;
  ~SocketPeer() override;

  void Send(const std::string& client, std::string_view bytes) override;
  std::string Receive(const std::string& client, Millis patience) override;
  bool Closed(const std::string& client) override;
  void Pass(Millis time) override;

  // Returns the longest delay of a reply, or of the end of a wait. With a delay, the server's time
  // is ahead of the transcript's, and its keys may expire a step too early.
  Millis longest_delay() const { return longest_delay_; }

 private:
  void NoteDelay(std::chrono::nanoseconds delay);

  const int port_;
  std::map<std::string, int> sockets_;  // the connected clients
  Millis longest_delay_{0};
};

// Returns a socket connected to that port of 127.0.0.1, or -1.
int ConnectTo(int port);

}  // namespace zsetd
