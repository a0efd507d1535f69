#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/commands/common/encoding.h"
#include "server/commands/debug/debug.h"
#include "server/engine/store/rdb_value_reader.h"
#include "server/engine/store/rdb_value_writer.h"

namespace zsetd {
namespace {

// Redis announces no event for keys that it loads.
constexpr std::string_view kNoEvent = "";

std::vector<std::string> KeysOf(const Database& database) {
  std::vector<std::string> keys;
  keys.reserve(database.keys().size());
  database.keys().ForEach([&](const Entry& entry) { keys.emplace_back(entry.key()); });
  return keys;
}

// The entry written and read back; null if it does not come back.
std::unique_ptr<Entry> ReadBack(const Entry& entry, const Settings& settings) {
  std::string bytes;
  RdbWriter writer(bytes);
  WriteValue(entry, writer);
  RdbReader reader(bytes, static_cast<size_t>(settings.proto_max_bulk_len));
  return ReadValue(reader, RdbTypeOf(entry), entry.key(), entry.deadline(),
                   ValueLimitsOf(settings));
}

bool ReloadAll(Call& call, Database& database) {
  for (const std::string& key : KeysOf(database)) {
    const Entry& old = *database.Find(key);
    std::unique_ptr<Entry> entry = ReadBack(old, call.engine.settings());
    if (entry == nullptr) return false;
    entry->set_use_mark(old.use_mark());
    database.Put(std::move(entry), kNoEvent);
  }
  return true;
}

}  // namespace

// DEBUG RELOAD [MERGE] [NOFLUSH] [NOSAVE]: every value as it is after a way through the format of
// Redis's snapshots. There is no file, so what was written earlier cannot be read (NOSAVE), and
// whether the keys are put over those in memory or in their place (NOFLUSH, MERGE) is the same.
void DebugReload(Call& call) {
  while (!call.args.AtEnd()) {
    if (call.args.Take("nosave")) {
      return call.Fail("ERR Error trying to load the RDB dump: no snapshots are kept");
    }
    if (call.args.Take("merge") || call.args.Take("noflush")) continue;
    return call.Fail("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
  }
  for (int index = 0; index < call.engine.database_count(); ++index) {
    if (!ReloadAll(call, call.engine.database(index))) {
      return call.Fail("ERR Error trying to load the RDB dump");
    }
  }
  call.reply.Ok();
}

}  // namespace zsetd
