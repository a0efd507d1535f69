#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/range.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Where SORT finds what belongs to an element: "weight_*" is a string key, "data_*->age" a field of
// a hash, the star standing for the element; "#" is the element itself. A view of the request.
class SortPattern {
 public:
  explicit SortPattern(std::string_view text);

  // Whether there is a key for each element.
  bool NamesKeys() const { return has_star_; }

  // The value that belongs to the element; nullopt if the key or field does not exist or has
  // another type. Valid until a key changes.
  std::optional<std::string_view> Resolve(Call& call, std::string_view element) const;

 private:
  std::string_view text_;
  bool has_star_;
  std::string_view before_;  // the star
  std::string_view behind_;
  std::string_view field_;  // empty: no field
};

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
