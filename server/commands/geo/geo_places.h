#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/geo/geo_point.h"
#include "core/sorted_set/sorted_set.h"
#include "server/commands/geo/geo_search_request.h"

namespace zsetd {

// A member that lies within the area of a search.
struct FoundPlace {
  std::string member;
  double score;
  GeoPoint point;
  double distance;  // metres
  size_t number;    // in the order of the search
};

// Those of the set, in the requested order, and no more than requested. O(n+log(m)) for n members
// in the cells that cover the area, of m in the set.
std::vector<FoundPlace> FindPlaces(const SortedSet& set, const GeoSearchRequest& request);

}  // namespace zsetd
