#pragma once

#include <string_view>

#include "core/geo/geo_point.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// A longitude and a latitude within the supported range.
GeoPoint TakePoint(ArgReader& args);

// A member of the set, and its position. If the set is missing, the argument is consumed all the
// same.
GeoPoint TakePlaceOfMember(ArgReader& args, const SortedSet* set);

// A unit by its name, in metres.
double TakeUnit(ArgReader& args);

// Replies with a distance in units, with four digits after the point.
void ReplyDistance(ReplyWriter& reply, double units);

// Replies with a position as a pair of coordinates.
void ReplyPoint(ReplyWriter& reply, const GeoPoint& point);

}  // namespace zsetd
