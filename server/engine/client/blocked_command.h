#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/util/time.h"
#include "server/engine/client/owned_args.h"
#include "server/engine/client/wait.h"

namespace zsetd {

struct Command;

// A blocking command (BLPOP, BZPOPMIN and similar) that waits: the state that is needed to run it
// again.
struct BlockedCommand {
  using Key = std::pair<int, std::string>;  // the database, and the key in it

  const Command* command;
  OwnedArgs argv;
  std::vector<Key> keys;                       // a change of any of them may end the wait
  Micros used{0};                              // the time that the command has run so far
  std::optional<Millis> until;                 // nullopt: no timeout
  std::unique_ptr<const Wait> wait = nullptr;  // never null in a blocked client
  uint64_t number = 0;                         // waits are served in this order
  size_t allocated_bytes = 0;  // of words, keys, the wait, and entries of BlockedClients
};

}  // namespace zsetd
