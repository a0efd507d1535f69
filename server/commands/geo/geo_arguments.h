#pragma once

#include <string_view>

#include "core/geo/geo_point.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/call.h"
#include "server/engine/command/arg_reader.h"

namespace zsetd {

// Takes a longitude and a latitude within the supported range.
GeoPoint TakePoint(ArgReader& args);

// Takes a member of the set and returns its position. Takes the argument even if the set is
// missing.
GeoPoint TakePlaceOfMember(ArgReader& args, const SortedSet* set);

// Finds the set of positions at `key`, or null. Refuses a set whose scores have a form.
const SortedSet* FindPositions(Call& call, std::string_view key);

// Takes the name of a unit and returns its length in metres.
double TakeUnit(ArgReader& args);

// Replies a distance in units, with four digits after the decimal point.
void ReplyDistance(ReplyWriter& reply, double units);

// Replies a position as a pair of coordinates.
void ReplyPoint(ReplyWriter& reply, const GeoPoint& point);

}  // namespace zsetd
