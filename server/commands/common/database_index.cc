#include "server/commands/common/database_index.h"

#include <limits>

namespace zsetd {

// As in Redis, the number must fit in an int. Redis has different errors for an overflow and for a
// missing database.
int TakeDatabaseIndex(Call& call) {
  using Int = std::numeric_limits<int32_t>;
  const int64_t index = call.args.Integer();
  if (index < Int::min() || index > Int::max()) {
    call.args.Refuse("ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  CheckDatabaseIndex(call, index);
  return static_cast<int>(index);
}

void CheckDatabaseIndex(Call& call, int64_t index) {
  if (index >= 0 && index < call.keys.database_count()) return;
  call.args.Refuse("ERR DB index is out of range");
}

}  // namespace zsetd
