#include "server/engine/call.h"

namespace zsetd {

bool Call::Refused() {
  if (!args.ok()) Fail(args.status());
  return refused_;
}

void Call::Fail(std::string_view line) {
  reply.Error(line);
  engine.stats().CountError(line);
  refused_ = true;
}

const Entry* Call::Find(std::string_view key) {
  const Entry* entry = database().Find(key);
  ++(entry != nullptr ? engine.stats().keyspace_hits : engine.stats().keyspace_misses);
  return entry;
}

}  // namespace zsetd
