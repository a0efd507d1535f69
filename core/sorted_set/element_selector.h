#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/range.h"

namespace zsetd {

// Selects elements of a result: from the elements in a range of scores, in ascending or descending
// order, skips the first `offset` and takes `count`.
struct Selection {
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();

  ScoreRange scores = {{-std::numeric_limits<double>::infinity()},
                       {std::numeric_limits<double>::infinity()}};
  bool reversed = false;
  size_t offset = 0;
  size_t count = kAll;
};

// Finds the first K of N elements without sorting all of them. It keeps up to 2K elements; when it
// has 2K, it drops those after the K-th (nth_element). From then on, elements after the K-th one
// are not copied.
//
// O(N + K log K) expected, and memory for 2K elements, where K is offset + count.
class ElementSelector {
 public:
  struct Selected {
    double score;
    std::string member;
  };

  explicit ElementSelector(const Selection& selection);

  // Adds an element. Each member may be added once. The score is not NaN.
  void Add(std::string_view member, double score);

  // Returns the selected elements in the requested order. May be called once.
  std::vector<Selected> Take();

 private:
  bool IsInRange(double score) const;
  bool Precedes(double score, std::string_view member, const Selected& other) const;
  void Prune();

  Selection selection_;
  size_t most_;  // offset + count: no element after these can be selected
  std::vector<Selected> kept_;
  bool is_pruned_ = false;  // the last of the first most_ of kept_ is the limit
  size_t full_at_;
};

}  // namespace zsetd
