#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"

namespace zsetd {

// The plainest possible sorted set. All functions are O(n).
class SortedSetModel {
 public:
  using Pair = std::pair<double, std::string>;

  AddResult Add(const std::string& member, double given, const AddRule& rule) {
    using Kind = AddResult::Kind;
    const auto found = scores_.find(member);
    const bool exists = found != scores_.end();
    if (exists ? rule.only_new : rule.only_existing) return {Kind::kRefused, 0};
    double score = exists && rule.increment ? found->second + given : given;
    if (std::isnan(score)) return {Kind::kNotANumber, 0};
    if (score == 0) score = 0;
    if (exists && rule.only_greater && !(score > found->second)) return {Kind::kRefused, 0};
    if (exists && rule.only_less && !(score < found->second)) return {Kind::kRefused, 0};
    if (exists && score == found->second) return {Kind::kUnchanged, score};
    Remove(member);
    scores_[member] = score;
    ordered_.insert({score, member});
    return {exists ? Kind::kUpdated : Kind::kAdded, score};
  }

  bool Remove(const std::string& member) {
    const auto found = scores_.find(member);
    if (found == scores_.end()) return false;
    ordered_.erase({found->second, member});
    scores_.erase(found);
    return true;
  }

  size_t Remove(RankRange ranks) {
    const std::vector<Pair> all = Elements();
    for (size_t rank = ranks.first; rank < std::min(ranks.last, all.size()); ++rank) {
      Remove(all[rank].second);
    }
    return all.size() - size();
  }

  std::optional<double> Score(const std::string& member) const {
    const auto found = scores_.find(member);
    return found == scores_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<size_t> Rank(const std::string& member) const {
    const auto score = Score(member);
    if (!score) return std::nullopt;
    return std::distance(ordered_.begin(), ordered_.find({*score, member}));
  }

  // Returns the ranks of the elements in a range, which a predicate on one element defines.
  template <class Within>
  RankRange RanksOf(Within within) const {
    const std::vector<Pair> all = Elements();
    const auto first = std::find_if(all.begin(), all.end(), within);
    const auto last = std::find_if_not(first, all.end(), within);
    return {size_t(first - all.begin()), size_t(last - all.begin())};
  }

  std::vector<Pair> Elements() const { return {ordered_.begin(), ordered_.end()}; }
  size_t size() const { return scores_.size(); }

 private:
  std::map<std::string, double> scores_;
  std::set<Pair> ordered_;
};

// The elements of a set as its cursor gives them.
inline std::vector<SortedSetModel::Pair> ElementsOf(const SortedSet& set) {
  std::vector<SortedSetModel::Pair> elements;
  for (auto at = set.At(0); at.valid(); at.Next()) {
    const Element element = at.element();
    elements.emplace_back(element.score, element.member);
  }
  return elements;
}

}  // namespace zsetd
