#pragma once

#include <functional>
#include <utility>

namespace zsetd {

class Client;

// The only way into a client from outside of its own command: messages for it, and notifications of
// its connection. A connection served by another thread can thus be notified later.
class Mailbox {
 public:
  // The client owns this. `wake` notifies its connection.
  Mailbox(Client& client, std::function<void()> wake) : client_(client), wake_(std::move(wake)) {}
  Mailbox(const Mailbox&) = delete;

  // Sends the client an unsolicited message, such as one of a channel it is subscribed to. While
  // the client's own command runs, or is being replied to, the message waits for that reply's end.
  // Closes the client at the hard limit of its output; a client that is being closed receives
  // nothing. `write` gets a ReplyWriter. Defined in client.h.
  template <class Write>
  void Push(Write write);

  // Notifies the connection that there is something to send, that it is to close, or that its
  // buffers may be larger than they need be.
  void Wake() { wake_(); }

 private:
  Client& client_;
  const std::function<void()> wake_;
};

}  // namespace zsetd
