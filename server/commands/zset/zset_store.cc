#include "server/commands/zset/zset_store.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "core/keyspace/value.h"

namespace zsetd {

bool StoreSet(Call& call, std::string_view key, SortedSet set, KeyEvent event, StoreCount count) {
  call.reply.Integer(static_cast<int64_t>(set.size()));
  if (set.empty()) return call.keys.Erase(key);
  const uint64_t changes = count == StoreCount::kElements ? set.size() : 1;
  call.keys.Put(key, std::move(set), event, std::nullopt, changes);
  return true;
}

}  // namespace zsetd
