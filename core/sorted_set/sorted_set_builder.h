#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/byte_arena.h"
#include "core/util/time.h"

namespace zsetd {

// Builds a sorted set from all of its elements at once, which may come in any order: from a
// snapshot, a part of another set, a union.
//
//   elements   sorted, unless they came in ascending or descending order
//   blocks     packed full, one after another
//   levels     built from the bottom up
//   index      built bucket by bucket, from (hash, block) pairs sorted by bucket
//
// No block or bucket is split, and nothing is looked up: each step passes over memory in order.
//
// The input may contain a member twice. Its two entries are then in one bucket of the index, with
// the same tag, so that this is detected at no cost.
class SortedSetBuilder {
 public:
  SortedSetBuilder() = default;
  SortedSetBuilder(const SortedSetBuilder&) = delete;
  SortedSetBuilder& operator=(const SortedSetBuilder&) = delete;

  // Copies the member's bytes. The score is not NaN. O(1), amortised.
  void Add(std::string_view member, double score) { AddView(arena_.Keep(member), score); }

  // The same with a deadline, or none.
  void Add(std::string_view member, double score, std::optional<Millis> deadline);

  // The same for bytes that stay where they are until the set is built.
  void AddView(std::string_view member, double score);

  size_t size() const { return elements_.size(); }

  // The set of everything added, or nothing if a member was added twice. Only once. O(n) for
  // elements in ascending or descending order, else O(n log n).
  std::optional<SortedSet> Build();

 private:
  bool PutInOrder();
  std::optional<SortedSet> BuildWithoutDeadlines();

  std::vector<Element> elements_;
  std::vector<std::pair<std::string_view, Millis>> deadlines_;  // by member
  ByteArena arena_;
};

}  // namespace zsetd
