#include "tests/clients/hiredis_connection.h"

#include <cstdarg>
#include <cstdlib>
#include <string_view>

namespace zsetd {
namespace {

struct FreeReply {
  void operator()(void* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

std::string Text(const redisReply& reply);

std::string ListText(const redisReply& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.elements; ++i) {
    if (i > 0) text += ' ';
    text += Text(*list.element[i]);
  }
  return text + "]";
}

std::string Text(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_NIL:
      return "nil";
    case REDIS_REPLY_ARRAY:
      return ListText(reply);
    default:
      return std::string(reply.str, reply.len);
  }
}

}  // namespace

HiredisConnection::HiredisConnection()
    : context_(redisConnect("127.0.0.1", std::atoi(std::getenv("PORT")))) {
  redisSetTimeout(context_.get(), {.tv_sec = 20, .tv_usec = 0});
}

std::string HiredisConnection::Run(const char* format, ...) {
  va_list words;
  va_start(words, format);
  const Reply reply(static_cast<redisReply*>(redisvCommand(context_.get(), format, words)));
  va_end(words);
  return reply ? Text(*reply) : context_->errstr;
}

std::string HiredisConnection::Next() {
  void* read = nullptr;
  if (redisGetReply(context_.get(), &read) != REDIS_OK) return context_->errstr;
  const Reply reply(static_cast<redisReply*>(read));
  return Text(*reply);
}

bool IsFreshTtl(const std::string& reply, long set_s) {
  const long ttl_s = std::atol(reply.c_str());
  return ttl_s <= set_s && ttl_s >= set_s - 5;
}

bool IsZsetd() { return std::getenv("SERVER") == std::string_view("zsetd"); }

}  // namespace zsetd
