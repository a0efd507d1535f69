#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/util/range.h"
#include "server/commands/key/sort_pattern.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// The arguments of SORT.
struct SortRequest {
  std::string_view key;
  std::optional<SortPattern> weights;           // BY; else the elements are their own weights
  bool sorts = true;                            // false: BY has the same weight for all
  bool by_bytes = false;                        // ALPHA; else weights are numbers
  bool descending = false;                      // DESC
  int64_t offset = 0;                           // LIMIT; negative is 0
  int64_t count = -1;                           // negative: all
  std::vector<SortPattern> results;             // GET; none: the elements themselves
  std::optional<std::string_view> destination;  // STORE

  // Which of `size` elements in order are asked for.
  RankRange Within(size_t size) const;
};

// Takes the key and all that follows. STORE is an option where the command may write.
SortRequest TakeSortRequest(ArgReader& args, bool may_store);

}  // namespace zsetd
