#pragma once

#include <string_view>

#include "core/geo/geo_point.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// A longitude and a latitude, of a place that can be kept.
GeoPoint TakePoint(ArgReader& args);

// A member of the set, and where it is. The member of a missing set is taken all the same.
GeoPoint TakePlaceOfMember(ArgReader& args, const SortedSet* set);

// The name of a unit, in metres.
double TakeUnit(ArgReader& args);

// Replies so many units with four digits after the point.
void ReplyDistance(ReplyWriter& reply, double units);

// Replies a place as the pair of its coordinates.
void ReplyPoint(ReplyWriter& reply, const GeoPoint& point);

}  // namespace zsetd
