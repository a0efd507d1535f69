#include "server/commands/geo/geo_arguments.h"

#include <optional>

#include "core/geo/geo_cell.h"
#include "protocol/text/number_text.h"
#include "server/commands/common/formed_scores.h"

namespace zsetd {

GeoPoint TakePoint(ArgReader& args) {
  const double longitude = args.Float();
  const double latitude = args.Float();
  const GeoPoint point = {longitude, latitude};
  if (args.ok() && !IsOnMap(point)) {
    args.Refuse("ERR invalid longitude,latitude pair " + FixedText(longitude, 6) + "," +
                FixedText(latitude, 6));
  }
  return args.ok() ? point : GeoPoint();
}

GeoPoint TakePlaceOfMember(ArgReader& args, const SortedSet* set) {
  const std::string_view member = args.Word();
  if (set == nullptr || !args.ok()) return {};
  const std::optional<double> score = set->Score(member);
  if (!score) args.Refuse("ERR could not decode requested zset member");
  return GeoPointOf(score.value_or(0));
}

const SortedSet* FindPositions(Call& call, std::string_view key) {
  const SortedSet* const set = call.Find<SortedSet>(key);
  if (set != nullptr && set->has_form()) call.args.Refuse(kNoPositions);
  return set;
}

double TakeUnit(ArgReader& args) {
  if (args.Take("m")) return 1;
  if (args.Take("km")) return 1000;
  if (args.Take("ft")) return 0.3048;
  if (args.Take("mi")) return 1609.34;
  args.Refuse("ERR unsupported unit provided. please use M, KM, FT, MI");
  return 1;
}

void ReplyDistance(ReplyWriter& reply, double units) { reply.Bulk(FixedText(units, 4)); }

void ReplyPoint(ReplyWriter& reply, const GeoPoint& point) {
  reply.Array(2);
  reply.Double(point.longitude);
  reply.Double(point.latitude);
}

}  // namespace zsetd
