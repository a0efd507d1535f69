#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/geo/geo_area.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// The arguments of a geospatial search, in whichever syntax of the commands.
struct GeoSearchRequest {
  enum class Order { kNone, kNearestFirst, kFarthestFirst };

  GeoArea area;
  double unit = 1;  // of the distances in the reply, in metres

  Order order = Order::kNone;
  std::optional<int64_t> count;  // maximum number of results
  bool any = false;              // ANY: the first that are found, not the nearest

  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;

  std::optional<std::string_view> destination;  // store there instead of replying
  bool store_distance = false;                  // as the score

  // The number of results to find; without a limit the largest integer.
  size_t MostFound() const;
  size_t MostTold() const;
};

// The differences between the commands in the arguments after their keys.
struct GeoSearchGrammar {
  enum class Center { kOption, kPoint, kMember };

  Center center =
      Center::kOption;             // FROM and BY are options, or a position and a radius come first
  bool has_store_options = false;  // STORE key and STOREDIST key
  bool stores = false;             // the destination is an argument already; STOREDIST is a flag
};

// Reads the arguments after the keys. `set` is the set to search, null if it is missing; `request`
// holds the destination if it is known already.
GeoSearchRequest TakeGeoSearchRequest(Call& call, const SortedSet* set,
                                      const GeoSearchGrammar& grammar, GeoSearchRequest request);

}  // namespace zsetd
