#include "server/commands/geo/geo_search_request.h"

#include <limits>
#include <string>

#include "server/commands/geo/geo_arguments.h"

namespace zsetd {
namespace {

using Order = GeoSearchRequest::Order;
using Center = GeoSearchGrammar::Center;

// Reads the arguments of one search.
class Reader {
 public:
  Reader(Call& call, const SortedSet* set, const GeoSearchGrammar& grammar,
         GeoSearchRequest& request)
      : args_(call.args),
        command_(call.argv()[0]),
        set_(set),
        grammar_(grammar),
        request_(request) {}

  void Read() {
    TakeFixed();
    while (args_.ok() && !args_.AtEnd()) {
      if (!TakeOption()) args_.Refuse(kSyntaxError);
    }
    CheckStore();
    CheckArea();
    if (request_.any && !request_.count)
      args_.Refuse("ERR the ANY argument requires COUNT argument");
  }

 private:
  // Takes the leading arguments, for commands without FROM and BY. As in Redis, the radius around a
  // member of a missing set is not checked.
  void TakeFixed() {
    if (grammar_.center == Center::kOption) return;
    if (grammar_.center == Center::kPoint) {
      request_.area.center = TakePoint(args_);
    } else {
      request_.area.center = TakePlaceOfMember(args_, set_);
      if (set_ == nullptr) {
        args_.Next(2);
        return;
      }
    }
    TakeRadius();
  }

  bool TakeOption() {
    return TakeFlag() || TakeCount() || TakeStore() ||
           (grammar_.center == Center::kOption && (TakeFrom() || TakeBy()));
  }

  bool TakeFlag() {
    if (args_.Take("withdist")) {
      request_.with_distance = true;
    } else if (args_.Take("withhash")) {
      request_.with_hash = true;
    } else if (args_.Take("withcoord")) {
      request_.with_point = true;
    } else if (args_.Take("any")) {
      request_.any = true;
    } else if (args_.Take("asc")) {
      request_.order = Order::kNearestFirst;
    } else if (args_.Take("desc")) {
      request_.order = Order::kFarthestFirst;
    } else {
      return false;
    }
    return true;
  }

  // Takes the option if at least `values` arguments follow it.
  bool Take(std::string_view option, size_t values) {
    return args_.left() > values && args_.Take(option);
  }

  bool TakeCount() {
    if (!Take("count", 1)) return false;
    request_.count = args_.Integer();
    if (*request_.count <= 0) args_.Refuse("ERR COUNT must be > 0");
    return true;
  }

  bool TakeStore() {
    if (grammar_.stores) {
      return args_.Take("storedist") && (request_.store_distance = true);
    }
    if (!grammar_.has_store_options) return false;
    const bool distance = Take("storedist", 1);
    if (!distance && !Take("store", 1)) return false;
    request_.destination = args_.Word();
    request_.store_distance = distance;
    return true;
  }

  bool TakeFrom() {
    if (!from_point_ && Take("frommember", 1)) {
      request_.area.center = TakePlaceOfMember(args_, set_);
      return from_member_ = true;
    }
    if (!from_member_ && Take("fromlonlat", 2)) {
      request_.area.center = TakePoint(args_);
      return from_point_ = true;
    }
    return false;
  }

  bool TakeBy() {
    if (!by_box_ && Take("byradius", 2)) {
      TakeRadius();
      return by_radius_ = true;
    }
    if (!by_radius_ && Take("bybox", 3)) {
      TakeBox();
      return by_box_ = true;
    }
    return false;
  }

  void TakeRadius() {
    const double radius = args_.Float("ERR need numeric radius");
    if (radius < 0) args_.Refuse("ERR radius cannot be negative");
    request_.unit = TakeUnit(args_);
    request_.area.shape = GeoCircle{radius * request_.unit};
  }

  void TakeBox() {
    const double width = args_.Float("ERR need numeric width");
    const double height = args_.Float("ERR need numeric height");
    if (width < 0 || height < 0) args_.Refuse("ERR height or width cannot be negative");
    request_.unit = TakeUnit(args_);
    request_.area.shape = GeoBox{width * request_.unit, height * request_.unit};
  }

  void CheckStore() {
    if (!request_.destination) return;
    if (!request_.with_distance && !request_.with_hash && !request_.with_point) return;
    const std::string what = grammar_.stores ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS";
    args_.Refuse("ERR " + what +
                 " is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
  }

  void CheckArea() {
    if (grammar_.center != Center::kOption) return;
    if (!from_member_ && !from_point_) RefuseWithout("FROMMEMBER or FROMLONLAT");
    if (!by_radius_ && !by_box_) RefuseWithout("BYRADIUS and BYBOX");
  }

  void RefuseWithout(std::string_view options) {
    args_.Refuse("ERR exactly one of " + std::string(options) + " can be specified for " +
                 std::string(command_));
  }

  ArgReader& args_;
  std::string_view command_;  // as the client wrote it
  const SortedSet* set_;
  const GeoSearchGrammar& grammar_;
  GeoSearchRequest& request_;
  bool from_member_ = false;
  bool from_point_ = false;
  bool by_radius_ = false;
  bool by_box_ = false;
};

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

}  // namespace

size_t GeoSearchRequest::MostFound() const { return any ? MostTold() : kNoLimit; }
size_t GeoSearchRequest::MostTold() const { return count ? static_cast<size_t>(*count) : kNoLimit; }

GeoSearchRequest TakeGeoSearchRequest(Call& call, const SortedSet* set,
                                      const GeoSearchGrammar& grammar, GeoSearchRequest request) {
  Reader(call, set, grammar, request).Read();
  if (request.count && !request.any && request.order == Order::kNone) {
    request.order = Order::kNearestFirst;
  }
  return request;
}

}  // namespace zsetd
