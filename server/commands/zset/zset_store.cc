#include "server/commands/zset/zset_store.h"

#include <cstdint>
#include <utility>

#include "server/commands/common/encoding.h"

namespace zsetd {

void StoreSet(Call& call, std::string_view key, SortedSet set, std::string_view event) {
  call.reply.Integer(static_cast<int64_t>(set.size()));
  if (set.empty()) {
    call.database().Erase(key);
  } else {
    set.Expect(set.size(), set.longest_member(), SortedSetLimitsOf(call.engine.settings()));
    call.database().Put(key, std::move(set), event);
  }
}

}  // namespace zsetd
