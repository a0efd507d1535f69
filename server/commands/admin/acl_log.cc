#include "server/commands/admin/acl_log.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "server/commands/common/reply_fields.h"

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

std::string_view NameOf(AclLog::Context context) {
  switch (context) {
    case AclLog::Context::kTopLevel:
      return "toplevel";
    case AclLog::Context::kTransaction:
      return "multi";
    case AclLog::Context::kScript:
      return "lua";
  }
  return {};
}

void ReplyEntry(ReplyWriter& reply, const AclLog::Entry& entry, Millis now) {
  reply.Map(10);
  ReplyFields fields(reply);
  fields.Number("count", entry.count);
  fields.Text("reason", NameOf(entry.reason));
  fields.Text("context", NameOf(entry.context));
  fields.Text("object", entry.object);
  fields.Text("username", entry.user);
  reply.Bulk("age-seconds");
  reply.Double(static_cast<double>((now - entry.updated).count()) / 1000);
  fields.Text("client-info", entry.client);
  fields.Number("entry-id", entry.id);
  fields.Number("timestamp-created", static_cast<uint64_t>(entry.created.count()));
  fields.Number("timestamp-last-updated", static_cast<uint64_t>(entry.updated.count()));
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
