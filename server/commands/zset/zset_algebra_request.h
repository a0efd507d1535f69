#pragma once

#include <vector>

#include "core/sorted_set/set_operations.h"
#include "server/engine/call.h"

namespace zsetd {

// The arguments of ZUNION, ZINTER, ZDIFF and the commands that store a result. The sets are valid
// until the next change.
struct AlgebraRequest {
  std::vector<WeightedSet> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
};

// The options that a command has after its keys.
struct AlgebraGrammar {
  bool weighted = false;  // WEIGHTS and AGGREGATE
  bool with_scores = false;
};

// Takes "numkeys key [key ...]". A missing key is an empty set; a key of another type than set or
// sorted set is an error.
std::vector<WeightedSet> TakeAlgebraInputs(Call& call);

// Takes the same and the options, up to the end. Errors are kept by the reader.
AlgebraRequest TakeAlgebraRequest(Call& call, const AlgebraGrammar& grammar);

}  // namespace zsetd
