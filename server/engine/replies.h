#pragma once

#include <cstddef>

namespace zsetd {

class Client;
class Clients;

// The ends of replies: what CLIENT REPLY discards, limits, and messages that waited for the end.
class Replies {
 public:
  // The clients outlive it.
  explicit Replies(Clients& clients) : clients_(clients) {}

  // The client's command has replied, from this offset in its buffer on. It may wait instead, and
  // has no reply then: CLIENT REPLY SKIP still refers to it.
  void End(Client& client, size_t reply_start);

  // Writes the next piece of the client's long reply, some kilobytes.
  void Continue(Client& client);

  // The client's reply in a transaction has ended. If it is too long, the client is closed, and the
  // rest of the transaction runs without replies.
  void EndQueued(Client& client, size_t reply_start);

 private:
  void CheckReplica(Client& client, size_t reply_start);
  void LeaveOutUnwanted(Client& client, size_t reply_start);

  Clients& clients_;
};

}  // namespace zsetd
