#include "core/score_table.h"

#include <algorithm>

namespace zsetd {

std::pair<double*, bool> ScoreTable::Add(std::string_view member, double score) {
  const auto found = scores_.find(member);
  if (found != scores_.end()) return {&found->second, false};
  return {&scores_.emplace(Keep(member), score).first->second, true};
}

SortedSet ScoreTable::Build() const {
  std::vector<Element> elements;
  elements.reserve(scores_.size());
  for (const auto& [member, score] : scores_) elements.push_back({member, score});
  return SortedSet::Of(elements);
}

std::string_view ScoreTable::Keep(std::string_view bytes) {
  if (free_bytes_ < bytes.size()) {
    free_bytes_ = std::max(kChunkBytes, bytes.size());
    free_ = chunks_.emplace_back(new char[free_bytes_]).get();
  }
  char* kept = std::copy(bytes.begin(), bytes.end(), free_) - bytes.size();
  free_ += bytes.size();
  free_bytes_ -= bytes.size();
  return {kept, bytes.size()};
}

}  // namespace zsetd
