#pragma once
#include <hiredis/hiredis.h>

#include <memory>
#include <string>

namespace zsetd {

// A hiredis connection to the server under test. Replies are text, so that a test reads like a
// conversation: 1, OK, nil, [fig tea rye], ERR no such key. If a reply does not arrive within 20
// seconds, the text is hiredis's error.
class HiredisConnection {
 public:
  HiredisConnection();

  // Sends a command and returns its reply. `format` is that of hiredis: words, with %s or %b for
  // values.
  std::string Run(const char* format, ...);

  // Sends without waiting for the reply.
  void Append(const char* command) { redisAppendCommand(context_.get(), command); }

  // Returns the next reply, or data that the server pushed, such as a published message.
  std::string Next();

  // Calls redisReconnect. Returns whether the connection was restored.
  bool Reconnect() { return redisReconnect(context_.get()) == REDIS_OK; }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

// Returns whether a reply to TTL matches a time to live that was set a moment ago.
bool IsFreshTtl(const std::string& reply, long set_s);

// Returns whether the server under test is zsetd, not the oracle.
bool IsZsetd();

}  // namespace zsetd
