#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/geo/geo_area.h"
#include "core/geo/geo_point.h"
#include "core/sorted_set/sorted_set.h"
#include "core/sorted_set/sorted_set_builder.h"
#include "server/commands/common/propagated_value.h"
#include "server/commands/geo/families.h"
#include "server/commands/geo/geo_arguments.h"
#include "server/commands/geo/geo_search_request.h"
#include "server/commands/zset/zset_store.h"
#include "server/engine/call.h"

namespace zsetd {
namespace {

using Center = GeoSearchGrammar::Center;
using Order = GeoSearchRequest::Order;

// A member within the area of a search.
struct FoundPlace {
  std::string member;
  double score;
  GeoPoint point;
  double distance;  // metres
  size_t number;    // its index in the order of the search
};

// Adds the members of the set that are in the cell and in the area, until there are `most`.
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

// Sorts the first `most` places and drops the rest. Places at equal distances keep the order of the
// search.
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

// Returns the members within the area, in the requested order and limited to the requested number.
// O(n + log(m)) for n members in the cells that cover the area and m members in the set.
std::vector<FoundPlace> FindPlaces(const SortedSet& set, const GeoSearchRequest& request) {
  std::vector<FoundPlace> found;
  for (const GeoCell& cell : CellsOf(request.area)) {
    Search(set, cell, request.area, request.MostFound(), found);
  }
  SortAndCut(found, request.order, request.MostTold());
  return found;
}

void ReplyFound(Call& call, const std::vector<FoundPlace>& found, const GeoSearchRequest& request) {
  const size_t extras = request.with_distance + request.with_hash + request.with_point;
  call.reply.Array(found.size());
  for (const FoundPlace& each : found) {
    if (extras > 0) call.reply.Array(1 + extras);
    call.reply.Bulk(each.member);
    if (request.with_distance) ReplyDistance(call.reply, each.distance / request.unit);
    if (request.with_hash) call.reply.Integer(static_cast<int64_t>(GeoHashOf(each.score)));
    if (request.with_point) ReplyPoint(call.reply, each.point);
  }
}

void StoreFound(Call& call, const std::vector<FoundPlace>& found, const GeoSearchRequest& request,
                KeyEvent event) {
  SortedSetBuilder builder;
  for (const FoundPlace& each : found) {
    builder.AddView(each.member,
                    request.store_distance ? each.distance / request.unit : each.score);
  }
  StoreSet(call, *request.destination, *builder.Build(), event, StoreCount::kElements);
  PropagateValue(call, *request.destination);
}

void SearchPlaces(Call& call, const GeoSearchGrammar& grammar) {
  GeoSearchRequest request;
  if (grammar.stores) request.destination = call.args.Word();
  const SortedSet* set = FindPositions(call, call.args.Word());
  request = TakeGeoSearchRequest(call, set, grammar, request);
  if (call.Refused()) return;
  const std::vector<FoundPlace> found =
      set == nullptr ? std::vector<FoundPlace>() : FindPlaces(*set, request);
  if (!request.destination) return ReplyFound(call, found, request);
  StoreFound(call, found, request,
             grammar.stores ? KeyEvent::kGeoSearchStore : KeyEvent::kGeoRadiusStore);
}

void GeoSearch(Call& call) { SearchPlaces(call, {}); }
void GeoSearchStore(Call& call) { SearchPlaces(call, {.stores = true}); }
void GeoRadius(Call& call) {
  SearchPlaces(call, {.center = Center::kPoint, .has_store_options = true});
}
void GeoRadiusRo(Call& call) { SearchPlaces(call, {.center = Center::kPoint}); }
void GeoRadiusByMember(Call& call) {
  SearchPlaces(call, {.center = Center::kMember, .has_store_options = true});
}
void GeoRadiusByMemberRo(Call& call) { SearchPlaces(call, {.center = Center::kMember}); }

constexpr std::string_view kStoreOptions[] = {"STORE", "STOREDIST"};

constexpr std::string_view kSearchCost =
    "O(N+log(M)) for N members in the cells that cover the area, of M in the set";

constexpr Command kGeoSearchCommands[] = {
    {.name = "geosearch",
     .run = GeoSearch,
     .arity = -7,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kGeo,
     .since = "6.2.0",
     .usage = "key <FROMMEMBER member|FROMLONLAT longitude latitude> <BYRADIUS radius "
              "<M|KM|FT|MI>|BYBOX width height <M|KM|FT|MI>> [ASC|DESC] [COUNT count [ANY]] "
              "[WITHCOORD] [WITHDIST] [WITHHASH]",
     .summary = "Returns the members inside a circle or box.",
     .cost = kSearchCost},
    {.name = "geosearchstore",
     .run = GeoSearchStore,
     .arity = -8,
     .flags = kWrite | kDenyOom,
     .keys = kTwoKeys,
     .group = CommandGroup::kGeo,
     .since = "6.2.0",
     .usage = "destination source <FROMMEMBER member|FROMLONLAT longitude latitude> <BYRADIUS "
              "radius <M|KM|FT|MI>|BYBOX width height <M|KM|FT|MI>> [ASC|DESC] [COUNT count "
              "[ANY]] [STOREDIST]",
     .summary = "Stores the members inside a circle or box.",
     .cost = kSearchCost,
     .key_use = "OW update,RO access"},
    {.name = "georadius",
     .run = GeoRadius,
     .arity = -6,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = {.first = 1, .last = 1, .step = 1, .options = kStoreOptions, .options_from = 6},
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = "key longitude latitude radius <M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] "
              "[COUNT count [ANY]] [ASC|DESC] [STORE key] [STOREDIST key]",
     .summary = "Returns or stores the members within a radius of a position.",
     .cost = kSearchCost,
     .key_use = "RO access,OW update,OW update"},
    {.name = "georadius_ro",
     .run = GeoRadiusRo,
     .arity = -6,
     .flags = kReadOnly,
     .keys = kOneKey,
     .group = CommandGroup::kGeo,
     .since = "3.2.10",
     .usage = "key longitude latitude radius <M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] "
              "[COUNT count [ANY]] [ASC|DESC]",
     .summary = "Returns the members within a radius of a position.",
     .cost = kSearchCost},
    {.name = "georadiusbymember",
     .run = GeoRadiusByMember,
     .arity = -5,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = {.first = 1, .last = 1, .step = 1, .options = kStoreOptions, .options_from = 5},
     .member_at = 2,
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = "key member radius <M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count "
              "[ANY]] [ASC|DESC] [STORE key] [STOREDIST key]",
     .summary = "Returns or stores the members within a radius of a member.",
     .cost = kSearchCost,
     .key_use = "RO access,OW update,OW update"},
    {.name = "georadiusbymember_ro",
     .run = GeoRadiusByMemberRo,
     .arity = -5,
     .flags = kReadOnly,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kGeo,
     .since = "3.2.10",
     .usage = "key member radius <M|KM|FT|MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count "
              "[ANY]] [ASC|DESC]",
     .summary = "Returns the members within a radius of a member.",
     .cost = kSearchCost},
};

}  // namespace

std::span<const Command> GeoSearchCommands() { return kGeoSearchCommands; }

}  // namespace zsetd
