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

// A pattern of SORT, which finds a value for an element: "weight_*" is a string key, "data_*->age"
// a field of a hash. The element replaces the star. "#" is the element itself. A view of the
// request.
class SortPattern {
 public:
  explicit SortPattern(std::string_view text);

  // Whether the pattern has a star, so that it names a key for each element.
  bool NamesKeys() const { return has_star_; }

  std::string_view text() const { return text_; }

  // Returns the value for the element; nullopt if the key or field does not exist or has another
  // type. Valid until a key changes.
  std::optional<std::string_view> Resolve(Call& call, std::string_view element) const;

 private:
  std::string_view text_;
  bool has_star_;
  std::string_view before_;  // the text before the star
  std::string_view behind_;
  std::string_view field_;  // empty without a field
};

// The arguments of SORT.
struct SortRequest {
  std::string_view key;
  std::optional<SortPattern> weights;  // BY; without it the elements are the weights
  bool sorts = true;        // false: all elements have the same weight, because BY has no star
  bool by_bytes = false;    // ALPHA: weights are texts, not numbers
  bool descending = false;  // DESC
  int64_t offset = 0;       // LIMIT; a negative offset is 0
  int64_t count = -1;       // LIMIT; a negative count is no limit
  std::vector<SortPattern> results;             // GET; empty: the elements themselves
  std::optional<std::string_view> destination;  // STORE

  // Returns the requested range among `size` sorted elements.
  RankRange Within(size_t size) const;
};

// Takes the key and all arguments after it. STORE is only an option if `may_store`.
SortRequest TakeSortRequest(ArgReader& args, bool may_store);

}  // namespace zsetd
