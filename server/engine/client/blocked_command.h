#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/timed_score_range.h"
#include "core/util/time.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Entry;
class ReplyWriter;
struct Command;

// How far what a client has written is spread: in the append-only log of this server (0 or 1), to
// replicas, and in the logs of replicas.
struct Acknowledgements {
  int64_t own_logs = 0;
  int64_t replicas = 0;
  int64_t replica_logs = 0;

  // Whether each of these is at least the other's.
  bool Reaches(const Acknowledgements& wanted) const {
    return own_logs >= wanted.own_logs && replicas >= wanted.replicas &&
           replica_logs >= wanted.replica_logs;
  }
};

// A blocking command (BLPOP, BZPOPMIN and similar) that waits: the state that is needed to run it
// again.
struct BlockedCommand {
  using Key = std::pair<int, std::string>;  // the database, and the key in it

  const Command* command;
  OwnedArgs argv;
  std::vector<Key> keys;            // any of them may end the wait
  Micros used{0};                   // the time that it has run so far
  std::optional<Millis> until;      // forever, if nothing
  bool (*can_serve)(const Entry&);  // whether it is worth trying when this is what a key holds
  void (*give_up)(ReplyWriter&);    // the reply at the timeout; null with `acknowledgements`
  std::optional<TimedScoreRange> scores;             // nothing else in a sorted set serves it
  std::optional<Acknowledgements> acknowledgements;  // that end the wait
  void (*reply)(ReplyWriter&, const Acknowledgements&) = nullptr;  // of these, then or in the end
  uint64_t number = 0;                                             // waits are served in this order
  size_t allocated_bytes = 0;  // of the words, the keys, and what BlockedClients keeps for them
};

}  // namespace zsetd
