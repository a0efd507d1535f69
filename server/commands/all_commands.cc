#include "server/commands/all_commands.h"

#include <vector>

#include "server/commands/admin/families.h"
#include "server/commands/cluster/families.h"
#include "server/commands/connection/families.h"
#include "server/commands/debug/families.h"
#include "server/commands/diagnostics/families.h"
#include "server/commands/docs/families.h"
#include "server/commands/geo/families.h"
#include "server/commands/hash/families.h"
#include "server/commands/hyperloglog/families.h"
#include "server/commands/key/families.h"
#include "server/commands/list/families.h"
#include "server/commands/pubsub/families.h"
#include "server/commands/scripting/families.h"
#include "server/commands/set/families.h"
#include "server/commands/stream/families.h"
#include "server/commands/string/families.h"
#include "server/commands/transaction/families.h"
#include "server/commands/zset/families.h"

namespace zsetd {
namespace {

std::vector<std::span<const Command>> Collect() {
  std::vector<std::span<const Command>> all;
  const auto add = [&](const auto& families) {
    all.insert(all.end(), families.begin(), families.end());
  };
  add(AdminFamilies());
  add(ClusterFamilies());
  add(ConnectionFamilies());
  add(DebugFamilies());
  add(DiagnosticsFamilies());
  add(DocsFamilies());
  add(GeoFamilies());
  add(HashFamilies());
  add(HyperLogLogFamilies());
  add(KeyFamilies());
  add(ListFamilies());
  add(PubSubFamilies());
  add(ScriptingFamilies());
  add(SetFamilies());
  add(StreamFamilies());
  add(StringFamilies());
  add(TransactionFamilies());
  add(ZSetFamilies());
  return all;
}

}  // namespace

std::span<const std::span<const Command>> AllCommands() {
  static const std::vector<std::span<const Command>> kFamilies = Collect();
  return kFamilies;
}

}  // namespace zsetd
