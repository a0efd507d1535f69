#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/keyed_hash.h"
#include "core/sorted_set.h"

namespace zsetd {

// Where the result of a whole-set operation grows: members with scores, in no order, the members'
// bytes copied one behind the other. Lives for one operation.
class ScoreTable {
 public:
  // The score of `member` and true, if it was not there and has been added with `score`; else the
  // score it had and false. Valid until the next call. O(1), amortised.
  std::pair<double*, bool> Add(std::string_view member, double score);

  // The set of everything added. O(n log n).
  SortedSet Build() const;

 private:
  static constexpr size_t kChunkBytes = 64 << 10;

  // A copy of `bytes` that lives as long as the table.
  std::string_view Keep(std::string_view bytes);

  absl::flat_hash_map<std::string_view, double, KeyedHasher, std::equal_to<>> scores_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;  // in the last chunk
  size_t free_bytes_ = 0;
};

}  // namespace zsetd
