#include "server/commands/geo/geo_places.h"

#include <algorithm>
#include <tuple>

#include "core/geo/geo_area.h"

namespace zsetd {
namespace {

using Order = GeoSearchRequest::Order;

// Adds what the set has in the cell and within the area, until there are `most`.
void Search(const SortedSet& set, const GeoCell& cell, const GeoArea& area, size_t most,
            std::vector<FoundPlace>& found) {
  const RankRange ranks = set.Ranks(cell.Scores());
  if (ranks.empty()) return;
  SortedSet::Cursor at = set.At(ranks.first);
  for (size_t left = ranks.size(); left > 0 && found.size() < most; --left, at.Next()) {
    const Element element = at.element();
    const GeoPoint point = GeoPointOf(element.score);
    if (const auto distance = area.DistanceTo(point)) {
      found.push_back({std::string(element.member), element.score, point, *distance, found.size()});
    }
  }
}

// Puts the first `most` in order, those that are equally far as they were found, and drops the
// rest.
void SortAndCut(std::vector<FoundPlace>& found, Order order, size_t most) {
  const auto middle = found.begin() + std::min(most, found.size());
  const auto nearest_first = [](const FoundPlace& a, const FoundPlace& b) {
    return std::tie(a.distance, a.number) < std::tie(b.distance, b.number);
  };
  const auto farthest_first = [](const FoundPlace& a, const FoundPlace& b) {
    return std::tie(b.distance, a.number) < std::tie(a.distance, b.number);
  };
  if (order == Order::kNearestFirst) {
    std::partial_sort(found.begin(), middle, found.end(), nearest_first);
  } else if (order == Order::kFarthestFirst) {
    std::partial_sort(found.begin(), middle, found.end(), farthest_first);
  }
  found.erase(middle, found.end());
}

}  // namespace

std::vector<FoundPlace> FindPlaces(const SortedSet& set, const GeoSearchRequest& request) {
  std::vector<FoundPlace> found;
  for (const GeoCell& cell : CellsOf(request.area)) {
    Search(set, cell, request.area, request.MostFound(), found);
  }
  SortAndCut(found, request.order, request.MostTold());
  return found;
}

}  // namespace zsetd
