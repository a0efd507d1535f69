#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/geo/geo_area.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"

namespace zsetd {

// What a search for places asks, whichever way the command spells it.
struct GeoSearchRequest {
  enum class Order { kNone, kNearestFirst, kFarthestFirst };

  GeoArea area;
  double unit = 1;  // in which distances are told, in metres

  Order order = Order::kNone;
  std::optional<int64_t> count;  // at most so many
  bool any = false;              // ANY: the first that are found, not the nearest

  bool with_distance = false;
  bool with_hash = false;
  bool with_point = false;

  std::optional<std::string_view> destination;  // store there rather than tell
  bool store_distance = false;                  // as the score

  // How many to look for; nothing to stop at is the largest number.
  size_t MostFound() const;
  size_t MostTold() const;
};

// How the commands differ in what they take after their keys.
struct GeoSearchGrammar {
  enum class Center { kOption, kPoint, kMember };

  Center center = Center::kOption;  // FROM and BY are options, or a place and a radius come first
  bool has_store_options = false;   // STORE key and STOREDIST key
  bool stores = false;              // the destination is given already; STOREDIST is a flag
};

// Reads what follows the keys. `set` is the one to search, null if it is missing; `request` holds
// the destination where it is given already.
GeoSearchRequest TakeGeoSearchRequest(Call& call, const SortedSet* set,
                                      const GeoSearchGrammar& grammar, GeoSearchRequest request);

}  // namespace zsetd
