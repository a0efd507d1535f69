#include "server/commands/acl_log.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace zsetd {
namespace {

constexpr int64_t kUsualCount = 10;

std::string_view NameOf(Denial::Reason reason) {
  switch (reason) {
    case Denial::Reason::kCommand:
      return "command";
    case Denial::Reason::kKey:
      return "key";
    case Denial::Reason::kAuth:
      return "auth";
    case Denial::Reason::kChannel:
      return "channel";
  }
  return {};
}

void ReplyEntry(ReplyWriter& reply, const AclLog::Entry& entry, Millis now) {
  const auto text = [&](std::string_view name, std::string_view value) {
    reply.Bulk(name);
    reply.Bulk(value);
  };
  const auto number = [&](std::string_view name, uint64_t value) {
    reply.Bulk(name);
    reply.Integer(static_cast<int64_t>(value));
  };
  reply.Map(10);
  number("count", entry.count);
  text("reason", NameOf(entry.reason));
  text("context", entry.in_transaction ? "multi" : "toplevel");
  text("object", entry.object);
  text("username", entry.user);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>((now - entry.updated).count()) / 1000);
  text("client-info", entry.client);
  number("entry-id", entry.id);
  number("timestamp-created", static_cast<uint64_t>(entry.created.count()));
  number("timestamp-last-updated", static_cast<uint64_t>(entry.updated.count()));
}

}  // namespace

void AclLogCommand(Call& call) {
  AclLog& log = call.engine.access().log();
  if (call.args.left() == 1 && call.args.Take("reset")) {
    log.Reset();
    return call.reply.Ok();
  }
  const int64_t wanted = call.args.AtEnd() ? kUsualCount : call.args.Integer();
  if (call.Refused()) return;
  const size_t count =
      std::min(log.entries().size(), static_cast<size_t>(std::max<int64_t>(wanted, 0)));
  call.reply.Array(count);
  for (size_t i = 0; i < count; ++i) ReplyEntry(call.reply, log.entries()[i], call.now());
}

}  // namespace zsetd
