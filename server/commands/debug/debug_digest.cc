#include "server/commands/debug/data_digest.h"
#include "server/commands/debug/debug.h"

namespace zsetd {

void DebugDigest(AdminCall& call) {
  DataDigest all;
  for (int index = 0; index < call.keys.database_count(); ++index) {
    const Keyspace& keys = call.engine.store().database(index).keys();
    if (keys.size() == 0) continue;
    AppendNumber(all, static_cast<uint32_t>(index));
    keys.ForEach([&](const Entry& entry) {
      DataDigest digest;
      digest.Append(entry.key());
      AppendValue(digest, entry);
      all.Add(digest);
    });
  }
  call.reply.Simple(all.Text());
}

void DebugDigestValue(AdminCall& call) {
  const Args keys = call.args.Rest();
  call.reply.Array(keys.size());
  for (const std::string_view key : keys) {
    DataDigest digest;
    if (const Entry* entry = call.database().Find(key)) AppendValue(digest, *entry);
    call.reply.Simple(digest.Text());
  }
}

}  // namespace zsetd
