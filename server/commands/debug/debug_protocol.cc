// DEBUG PROTOCOL: one reply of each kind, equal to Redis's, for tests of clients.

#include <algorithm>
#include <string_view>

#include "server/commands/debug/debug.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

void ReplyNumbers(ReplyWriter& reply) {
  for (int number = 0; number < 3; ++number) reply.Integer(number);
}

void ReplyString(AdminCall& call) { call.reply.Bulk("Hello World"); }
void ReplyInteger(AdminCall& call) { call.reply.Integer(12345); }
void ReplyDouble(AdminCall& call) { call.reply.Double(3.141); }
void ReplyBigNumber(AdminCall& call) {
  call.reply.BigNumber("1234567999999999999999999999999999999");
}
void ReplyNull(AdminCall& call) { call.reply.Null(); }
void ReplyTrue(AdminCall& call) { call.reply.Bool(true); }
void ReplyFalse(AdminCall& call) { call.reply.Bool(false); }
void ReplyVerbatim(AdminCall& call) { call.reply.Verbatim("txt", "This is a verbatim\nstring"); }

void ReplyArray(AdminCall& call) {
  call.reply.Array(3);
  ReplyNumbers(call.reply);
}

void ReplySet(AdminCall& call) {
  call.reply.Set(3);
  ReplyNumbers(call.reply);
}

void ReplyMap(AdminCall& call) {
  call.reply.Map(3);
  for (int number = 0; number < 3; ++number) {
    call.reply.Integer(number);
    call.reply.Bool(number == 1);
  }
}

void ReplyAttribute(AdminCall& call) {
  if (call.reply.protocol() == Protocol::kResp3) {
    call.reply.Attribute(1);
    call.reply.Bulk("key-popularity");
    call.reply.Array(2);
    call.reply.Bulk("key:123");
    call.reply.Integer(90);
  }
  call.reply.Bulk("Some real reply following the attribute");
}

void ReplyPush(AdminCall& call) {
  if (call.reply.protocol() == Protocol::kResp2) {
    return call.Fail("ERR RESP2 is not supported by this command");
  }
  call.reply.Push(2);
  call.reply.Bulk("server-cpu-usage");
  call.reply.Integer(42);
  call.reply.Bulk("Some real reply following the push reply");
}

struct Kind {
  std::string_view name;
  void (*reply)(AdminCall&);
};

constexpr Kind kKinds[] = {
    {"string", ReplyString},    {"integer", ReplyInteger},   {"double", ReplyDouble},
    {"bignum", ReplyBigNumber}, {"null", ReplyNull},         {"array", ReplyArray},
    {"set", ReplySet},          {"map", ReplyMap},           {"attrib", ReplyAttribute},
    {"push", ReplyPush},        {"verbatim", ReplyVerbatim}, {"true", ReplyTrue},
    {"false", ReplyFalse},
};

}  // namespace

void DebugProtocol(AdminCall& call) {
  const Kind* kind = std::ranges::find_if(
      kKinds, [&](const Kind& each) { return EqualsIgnoringCase(each.name, call.args.Peek()); });
  if (kind != std::end(kKinds)) return kind->reply(call);
  call.Fail(
      "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|"
      "null|array|set|map|attrib|push|verbatim|true|false");
}

}  // namespace zsetd
