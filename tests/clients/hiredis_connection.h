#pragma once
#include <hiredis/hiredis.h>

#include <memory>
#include <string>

namespace zsetd {

// A connection to the server under test through hiredis, which writes replies as text, so that a
// test reads as a conversation: 1, OK, nil, [fig tea rye], ERR no such key. A reply that does not
// come within 20 seconds is hiredis's error text.
class HiredisConnection {
 public:
  HiredisConnection();

  // The reply to a command, given as hiredis takes it: words, and %s or %b for any bytes.
  std::string Run(const char* format, ...);

  // Sends without waiting for the reply.
  void Append(const char* command) { redisAppendCommand(context_.get(), command); }

  // The next reply, or what the server sent by itself, such as a published message.
  std::string Next();

  // What redisReconnect answers: whether the connection stands again.
  bool Reconnect() { return redisReconnect(context_.get()) == REDIS_OK; }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

// Whether a reply to TTL tells a time to live that was set a moment ago.
bool IsFreshTtl(const std::string& reply, long set_s);

// Whether the server under test is zsetd, rather than the oracle.
bool IsZsetd();

}  // namespace zsetd
