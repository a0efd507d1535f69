#include "server/commands/common/dumped_value.h"

#include "protocol/rdb/dump_payload.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/engine/store/rdb_value_writer.h"

namespace zsetd {

std::string DumpedValue(Call& call, const Entry& entry) {
  std::string payload;
  RdbWriter writer(payload, call.keys.compresses_dumps());
  WriteDump(entry, writer);
  SealPayload(payload, DumpVersion(entry));
  return payload;
}

}  // namespace zsetd
