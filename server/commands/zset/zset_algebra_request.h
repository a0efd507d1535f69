#pragma once

#include <vector>

#include "core/sorted_set/set_operations.h"
#include "server/engine/call.h"

namespace zsetd {

// What ZUNION, ZINTER, ZDIFF and those that store a result ask for. The sets are valid until the
// next change.
struct AlgebraRequest {
  std::vector<WeightedSet> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
};

// Which options a command takes after its keys.
struct AlgebraGrammar {
  bool weighted = false;  // WEIGHTS and AGGREGATE
  bool with_scores = false;
};

// Takes "numkeys key [key ...]". A key that is not there is an empty set; one that holds neither
// kind of set is refused.
std::vector<WeightedSet> TakeAlgebraInputs(Call& call);

// Takes the same and the options, up to the end. What is wrong is kept as the reader's error.
AlgebraRequest TakeAlgebraRequest(Call& call, const AlgebraGrammar& grammar);

}  // namespace zsetd
