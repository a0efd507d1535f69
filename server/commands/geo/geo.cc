#include <optional>
#include <string_view>
#include <vector>

#include "core/geo/geo_cell.h"
#include "server/commands/common/formed_scores.h"
#include "server/commands/geo/families.h"
#include "server/commands/geo/geo_arguments.h"
#include "server/commands/zset/add/zset_add.h"
#include "server/commands/zset/add/zset_timed_add.h"
#include "server/engine/call.h"
#include "server/engine/command/usage_text.h"

namespace zsetd {
namespace {

TimedAddRequest TakeGeoAddRequest(Call& call) {
  ArgReader& args = call.args;
  TimedAddRequest request;
  AddRule& rule = request.add.rule;
  while (args.MayTakeOption()) {
    if (args.Take("nx")) {
      rule.only_new = true;
    } else if (args.Take("xx")) {
      rule.only_existing = true;
    } else if (args.Take("ch")) {
      request.add.count_changed = true;
    } else if (!TakeMemberDeadline(call, request)) {
      break;
    }
  }
  constexpr size_t kWordsOfPlace = 3;
  if (args.AtEnd() || args.left() % kWordsOfPlace != 0) args.Refuse(kSyntaxError);
  if (rule.only_new && rule.only_existing) args.Refuse(kSyntaxError);
  while (args.ok() && !args.AtEnd()) {
    const GeoPoint point = TakePoint(args);
    request.add.pairs.push_back({.member = args.Word(), .score = GeoScoreOf(point)});
  }
  return request;
}

void GeoAdd(Call& call) {
  const std::string_view key = call.args.Word();
  const TimedAddRequest timed = TakeGeoAddRequest(call);
  if (timed.IsTimed()) return AddTimed(call, key, timed);
  const AddRequest& request = timed.add;
  Edit<SortedSet> set = OpenToAdd(call, key, request.rule);
  if (set && set->has_form()) call.args.Refuse(kNoPositions);
  if (call.Refused()) return;
  const uint32_t revision = set ? set->revision() : 0;
  AddAll(call, set, request);
  PropagateAddition(call, key, set, request, set && set->revision() != revision);
}

// Returns the member's position; nullopt if the set or the member does not exist.
std::optional<GeoPoint> PlaceOf(const SortedSet* set, std::string_view member) {
  const std::optional<double> score = set == nullptr ? std::nullopt : set->Score(member);
  return score ? std::optional(GeoPointOf(*score)) : std::nullopt;
}

// Replies the position of each member by `reply_one`.
template <class ReplyOne>
void ReplyPlaces(Call& call, ReplyOne reply_one) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Rest();
  const SortedSet* set = FindPositions(call, key);
  if (call.Refused()) return;
  call.reply.Array(members.size());
  for (const std::string_view member : members) reply_one(PlaceOf(set, member));
}

void GeoPos(Call& call) {
  ReplyPlaces(call, [&](const std::optional<GeoPoint>& place) {
    if (place) {
      ReplyPoint(call.reply, *place);
    } else {
      call.reply.NullArray();
    }
  });
}

void GeoHash(Call& call) {
  ReplyPlaces(call, [&](const std::optional<GeoPoint>& place) {
    if (place) {
      call.reply.Bulk(GeohashText(*place));
    } else {
      call.reply.Null();
    }
  });
}

void GeoDist(Call& call) {
  const std::string_view key = call.args.Word();
  const Args members = call.args.Next(2);
  if (call.args.left() > 1) call.args.Refuse(kSyntaxError);
  const double unit = call.args.AtEnd() ? 1 : TakeUnit(call.args);
  const SortedSet* set = FindPositions(call, key);
  if (call.Refused()) return;
  const std::optional<GeoPoint> a = PlaceOf(set, members[0]);
  const std::optional<GeoPoint> b = PlaceOf(set, members[1]);
  a&& b ? ReplyDistance(call.reply, Distance(*a, *b) / unit) : call.reply.Null();
}

constexpr Command kGeoCommands[] = {
    {.name = "geoadd",
     .run = GeoAdd,
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = kOneKey,
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = kUsage<"key [NX|XX] [CH] ", kSetsTime,
                     " longitude latitude member [longitude latitude member ...]">,
     .summary = "Adds members with longitude and latitude, or moves them; can set their expiration "
                "times too.",
     .cost = "O(log(N)) for each member",
     .key_use = "RW update"},
    {.name = "geopos",
     .run = GeoPos,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = "key [member [member ...]]",
     .summary = "Returns the longitude and latitude of members.",
     .cost = "O(1) for each member"},
    {.name = "geohash",
     .run = GeoHash,
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = "key [member [member ...]]",
     .summary = "Returns the positions of members as geohash strings.",
     .cost = "O(1) for each member"},
    {.name = "geodist",
     .run = GeoDist,
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneKey,
     .member_at = 2,
     .group = CommandGroup::kGeo,
     .since = "3.2.0",
     .usage = "key member1 member2 [M|KM|FT|MI]",
     .summary = "Returns the distance between two members.",
     .cost = "O(1)"},
};

}  // namespace

std::span<const Command> GeoCommands() { return kGeoCommands; }

}  // namespace zsetd
