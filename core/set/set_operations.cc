#include "core/set/set_operations.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace zsetd {
namespace {

// Each non-empty set once, in the given order. So a set that a request lists a thousand times is
// iterated once, and its members are looked up once.
std::vector<const Set*> Distinct(Sets sets) {
  std::vector<const Set*> distinct;
  std::unordered_set<const Set*> seen;
  for (const Set* set : sets) {
    if (set != nullptr && !set->empty() && seen.insert(set).second) distinct.push_back(set);
  }
  return distinct;
}

// The distinct sets, the smallest first; none if one is empty.
std::vector<const Set*> BySize(Sets sets) {
  const auto is_empty = [](const Set* set) { return set == nullptr || set->empty(); };
  if (std::ranges::any_of(sets, is_empty)) return {};
  std::vector<const Set*> sorted = Distinct(sets);
  std::ranges::stable_sort(sorted, {}, &Set::size);
  return sorted;
}

bool InAll(std::string_view member, Sets sets) {
  return std::ranges::all_of(sets, [&](const Set* set) { return set->Contains(member); });
}

bool InAny(std::string_view member, Sets sets) {
  return std::ranges::any_of(sets, [&](const Set* set) { return set->Contains(member); });
}

}  // namespace

Set Union(Sets sets, const SetLimits& limits) {
  Set result;
  for (const Set* set : Distinct(sets)) {
    set->ForEach([&](std::string_view member) { result.Add(member, limits); });
  }
  return result;
}

Set Intersection(Sets sets, const SetLimits& limits) {
  Set result;
  const std::vector<const Set*> sorted = BySize(sets);
  if (sorted.empty()) return result;
  sorted[0]->ForEach([&](std::string_view member) {
    if (InAll(member, Sets(sorted).subspan(1))) result.Add(member, limits);
  });
  return result;
}

size_t IntersectionSize(Sets sets, size_t most) {
  const std::vector<const Set*> sorted = BySize(sets);
  if (sorted.empty()) return 0;
  size_t count = 0;
  uint64_t cursor = 0;
  do {
    cursor = sorted[0]->Scan(
        cursor, [&](std::string_view member) { count += InAll(member, Sets(sorted).subspan(1)); });
  } while (cursor != 0 && count < most);
  return std::min(count, most);
}

Set Difference(Sets sets, const SetLimits& limits) {
  Set result;
  if (sets.empty() || sets[0] == nullptr) return result;
  const std::vector<const Set*> others = Distinct(sets.subspan(1));
  sets[0]->ForEach([&](std::string_view member) {
    if (!InAny(member, others)) result.Add(member, limits);
  });
  return result;
}

}  // namespace zsetd
