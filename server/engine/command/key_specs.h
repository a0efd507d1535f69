#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "protocol/resp/args.h"
#include "server/engine/command/command.h"

namespace zsetd {

// Keys of a request that are found, and used, in the same way.
struct KeySpec {
  int begin;     // the position of the first, or of their count
  bool counted;  // a count, followed by the keys
  int last = 0;  // uncounted: the distance from the first; negative: from the end of the request
  int step = 1;
  std::string_view use = {};     // the flags as in Redis, "RW access update"
  std::string_view option = {};  // precedes it, somewhere from `begin` on; negative: backwards
  bool unknown = false;          // no rule describes its position; see KeyPlaces::other_options
};

// Where the command's keys are, by their places in the row, and how they are used: by its
// `key_use`, a comma between the specs, or by its flags. Ordered by where they begin.
std::vector<KeySpec> KeySpecsOf(const Command& command);

// A key of one request.
struct UsedKey {
  size_t position;       // among the arguments
  std::string_view use;  // what options of the request change in it is changed

  bool Reads() const;   // what the key holds becomes known
  bool Writes() const;  // the key changes
};

// The keys of a request that fits the arity, in KeyPositions()'s order.
std::vector<UsedKey> UsedKeys(const Command& command, Args argv);

}  // namespace zsetd
