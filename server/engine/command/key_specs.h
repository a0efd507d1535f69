#pragma once

#include <cstddef>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command.h"

namespace zsetd {

// Keys of a request that are found, and used, in the same way.
struct KeySpec {
  int begin;     // the position of the first, or of their count
  bool counted;  // a count, followed by the keys
  int last = 0;  // uncounted: the distance from the first; negative: from the end of the request
  int step = 1;
  int limit = 0;                 // keys are the first of this number of equal parts; 0: all
  std::string_view use = {};     // the flags as in Redis, "RW access update"
  std::string_view option = {};  // precedes it, somewhere from `begin` on; negative: backwards
  bool unknown = false;          // no rule describes its position; see KeyPlaces::other_options
};

// No row has more specs than four, so a list of them allocates nothing.
using KeySpecs = absl::InlinedVector<KeySpec, 4>;

// Where the command's keys are, by their places in the row, and how they are used: by its
// `key_use`, a comma between the specs, or by its flags. Ordered by where they begin.
KeySpecs KeySpecsOf(const Command& command);

// How a request uses a key: the flags of its spec, with the effect of the request's options.
struct KeyUse {
  std::string_view flags;

  bool Reads() const;   // what the key holds becomes known
  bool Writes() const;  // the key changes
};

// How one request that fits the arity uses its keys. Allocates nothing. The row and the arguments
// outlive the object.
class KeyUses {
 public:
  KeyUses(const Command& command, Args argv)
      : command_(command), argv_(argv), specs_(KeySpecsOf(command)) {}

  // The use of the key at this position, which FindKeys() has found. O(1), plus O(arguments) if
  // the row has a VariableUse.
  KeyUse At(size_t position) const;

 private:
  const Command& command_;
  Args argv_;
  KeySpecs specs_;
};

}  // namespace zsetd
