#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/geo/geo_area.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// The arguments of a geospatial search, for all commands.
struct GeoSearchRequest {
  enum class Order { kNone, kNearestFirst, kFarthestFirst };

  GeoArea area;
  double unit = 1;  // of distances in the reply, in metres

  Order order = Order::kNone;
  std::optional<int64_t> count;  // maximum number of results
  bool any = false;              // ANY: the first places that are found, not the nearest

  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;

  std::optional<std::string_view> destination;  // STORE: stores the result instead of replying it
  bool store_distance = false;                  // STOREDIST: stores the distances as scores

  // The number of places after which the search stops: the count with ANY, otherwise no limit.
  size_t MostFound() const;
  size_t MostTold() const;
};

// The differences between the commands in their arguments after the keys.
struct GeoSearchGrammar {
  enum class Center { kOption, kPoint, kMember };

  Center center =
      Center::kOption;             // FROM and BY are options, or a position and a radius come first
  bool has_store_options = false;  // STORE key and STOREDIST key
  bool stores = false;             // the destination is taken already; STOREDIST is a flag
};

// Takes the arguments after the keys. `set` is the set to search, or null if it is missing.
// `request` contains the destination if it is already known.
GeoSearchRequest TakeGeoSearchRequest(Call& call, const SortedSet* set,
                                      const GeoSearchGrammar& grammar, GeoSearchRequest request);

}  // namespace zsetd
