#include "server/commands/stream/read_request.h"

#include <algorithm>
#include <string>

#include "server/commands/common/timeout_option.h"

namespace zsetd {
namespace {

std::string GroupOnly(std::string_view option) {
  return "ERR The " + std::string(option) +
         " option is only supported by XREADGROUP. You called XREAD instead.";
}

// Takes the keys and their IDs, which are as many.
void TakeStreams(Call& call, ReadRequest& request) {
  const size_t words = call.args.left();
  if (words % 2 != 0) {
    return call.args.Refuse(
        "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be "
        "specified.");
  }
  request.keys = call.args.Next(words / 2);
  request.ids = call.args.Next(words / 2);
}

// Takes an option other than STREAMS.
void TakeReadOption(Call& call, bool in_group, ReadRequest& request) {
  ArgReader& args = call.args;
  const bool has_value = args.left() >= 2;
  if (has_value && args.Take("block")) {
    if (call.caller.client() == nullptr) {
      return args.Refuse("ERR " + std::string(call.argv()[0]) +
                         " command is not allowed with BLOCK option from scripts");
    }
    request.block = TakeTimeoutMillis(args, call.now());
  } else if (has_value && args.Take("count")) {
    request.count = static_cast<uint64_t>(std::max<int64_t>(args.Integer(), 0));
  } else if (args.left() >= 3 && args.Take("group")) {
    if (!in_group) return args.Refuse(GroupOnly("GROUP"));
    request.has_group = true;
    request.group = args.Word();
    request.consumer = args.Word();
  } else if (has_value && args.Take("claim")) {
    if (!in_group) return args.Refuse(GroupOnly("CLAIM"));
    const int64_t min_idle = args.Integer("ERR min-idle-time is not an integer");
    if (min_idle < 0) args.Refuse("ERR min-idle-time must be a positive integer");
    request.min_idle = Millis(min_idle);
  } else if (args.Take("noack")) {
    if (!in_group) return args.Refuse(GroupOnly("NOACK"));
    request.acknowledges = true;
  } else {
    args.Refuse(kSyntaxError);
  }
}

}  // namespace

ReadRequest TakeReadRequest(Call& call, bool in_group) {
  ReadRequest request;
  while (call.args.ok() && !call.args.AtEnd()) {
    if (call.args.left() >= 2 && call.args.Take("streams")) {
      TakeStreams(call, request);
    } else {
      TakeReadOption(call, in_group, request);
    }
  }
  if (request.keys.empty()) call.args.Refuse(kSyntaxError);
  if (in_group && !request.has_group) {
    call.args.Refuse("ERR Missing GROUP option for XREADGROUP");
  }
  return request;
}

uint64_t MostEntries(const Call& call, const ReadRequest& request) {
  constexpr uint64_t kMostAfterWait = 1000;
  if (request.count > 0) return request.count;
  return call.RunsAgain() ? kMostAfterWait : UINT64_MAX;
}

}  // namespace zsetd
