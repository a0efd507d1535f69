// The requests of sorted sets; those of positions are with the other types.
#include <string>

#include "tests/propagation/random_requests.h"
#include "tests/propagation/random_words.h"

namespace zsetd {

using Words = RandomRequests::Words;

Words RandomRequests::Algebra(const std::string& row) {
  const auto key = [this] { return Chance(4) ? Key('t', 4) : Key('z', 4); };
  Words request = {Upper(row), Key('z', 4), "2", key(), key()};
  if (row == "zdiffstore") return request;
  return Options(request, {{"WEIGHTS", Float(), Integer()},
                           {"AGGREGATE", Pick({"SUM", "MIN", "MAX", "COUNT"})}});
}

void RandomRequests::AddSortedSets() {
  const auto key = [this] { return Chance(5) ? Key('f', 4) : Key('z', 4); };
  // Scores with a form, some of which doubles round.
  const auto formed = [this] {
    const std::string base =
        Pick({"900719925474099", "-900719925474099", "922337203685477580", "1"});
    const std::string integer = base + Number(8);
    if (Chance(3)) {
      return Words{"ZADD", "f4", "FORM", "HALFLIFE", "60"} +
             Many(
                 [this] {
                   return Words{Number(50), Member()};
                 },
                 4);
    }
    if (!Chance(3)) {
      return Words{"ZADD", Key('f', 3), "FORM", "INT64"} + Many(
                                                               [=, this] {
                                                                 return Words{integer, Member()};
                                                               },
                                                               4);
    }
    return Words{"ZADD", "f3", "FORM", "TUPLE", "33", "31:DESC", "END"} +
           Many(
               [this] {
                 return Words{"859993459" + Number(9) + "/" + Number(9), Member()};
               },
               4);
  };
  // Due soon, in either unit of time.
  const auto job = [this] {
    const int64_t due = source_.now().count() + 200 - static_cast<int64_t>(Below(300));
    if (Chance(2)) return Words{std::to_string(due), Member()};
    return Words{std::to_string(due / 1000) + "." + std::to_string(1000 + due % 1000).substr(1),
                 Member()};
  };
  const auto pairs = [=, this] {
    return Many([=, this] { return Chance(8) ? job() : Words{Score(), Member()}; }, 8);
  };
  // Ranges by members require sets of a single score.
  const auto flat = [this] { return "y" + Number(3); };
  cases_["zadd"] = [=, this] {
    if (Chance(5)) return formed();
    if (Chance(5)) {
      return Words{"ZADD", flat()} + Many([this] { return Words{"0", Member()}; }, 8);
    }
    Words request =
        Options({"ZADD", key()}, {{Pick({"NX", "XX", "GT", "LT"})}, {"CH"}, Expiry(), Capped()});
    if (Chance(6)) request = request + Words{"IFEQ", Integer()};
    if (Chance(6)) return request + Words{"INCR", Score(), Member()};
    request = request + pairs();
    return Chance(4) ? request + Expiry() : request;
  };
  cases_["zincrby"] = [=, this] {
    if (Chance(4)) return Words{"ZINCRBY", Key('f', 5), Integer(), Member()};
    if (Chance(4)) {
      return Options({"ZINCRBY", "f4", Number(50), Member(), "FORM", "HALFLIFE", "60"},
                     {Expiry(), Capped()});
    }
    return Options({"ZINCRBY", key(), Score(), Member()}, {Expiry(), Capped()});
  };
  cases_["zmove"] = [=, this] { return Words{"ZMOVE", key(), key(), Member(), Member()}; };
  AddExpiry("z", "MEMBERS", key, [this] { return Member(); });
  cases_["zaddex"] = [=, this] {
    Words request =
        Options({"ZADDEX", key()}, {{Pick({"NX", "XX", "GT", "LT"})}, {"CH"}, Expiry()});
    if (Chance(4)) return request + Words{"INCR", "MEMBERS", "1", Score(), Member()};
    const Words scored = pairs();
    request = request + Words{"MEMBERS", std::to_string(scored.size() / 2)};
    return request + scored;
  };
  cases_["zsetdata"] = [=, this] {
    return Words{"ZSETDATA", key()} + Many([=, this] { return Words{Member(), Payload()}; }, 5);
  };
  cases_["zdeldata"] = [=, this] { return Words{"ZDELDATA", key(), Member(), Member()}; };
  cases_["zrem"] = [=, this] { return Words{"ZREM", key(), Member(), Member()}; };
  cases_["zremrangebyrank"] = [=, this] {
    return Words{"ZREMRANGEBYRANK", key(), Number(3), Pick({"2", "-2", "0"})};
  };
  cases_["zremrangebyscore"] = [=, this] {
    if (Chance(2))
      return Words{"ZREMRANGEBYSCORE", key(), "(1e6", Pick({"now", "(NOWMS", "nowms"})};
    return Words{"ZREMRANGEBYSCORE", key(), Pick({"-inf", "(5", "10"}), Pick({"100", "(50", "7"})};
  };
  cases_["zremrangebylex"] = [=, this] {
    return Words{"ZREMRANGEBYLEX", flat(), Pick({"-", "[b", "(d"}), Pick({"[c", "(k"})};
  };
  for (const std::string name : {"zpopmin", "zpopmax"}) {
    cases_[name] = [=, this] { return Options({Upper(name), key()}, {{Number(4)}, {"WITHDATA"}}); };
    cases_["b" + name] = [=, this] {
      return Options({"B" + Upper(name), key(), key(), Timeout()}, {{"WITHDATA"}});
    };
  }
  cases_["zmpop"] = [=, this] {
    return Options({"ZMPOP", "2", key(), key(), Pick({"MIN", "MAX"})},
                   {{"COUNT", std::to_string(1 + Below(4))}, {"WITHDATA"}});
  };
  cases_["bzmpop"] = [=, this] {
    return Options({"BZMPOP", Timeout(), "2", key(), key(), Pick({"MIN", "MAX"})},
                   {{"COUNT", std::to_string(1 + Below(4))}, {"WITHDATA"}});
  };
  const auto scores = [=, this] {
    if (Chance(2)) return Words{Pick({"-inf", "5"}), Pick({"now", "(now", "nowms"})};
    return Words{Pick({"-inf", "(5", "10"}), Pick({"+inf", "(50", "7"})};
  };
  cases_["zpopbyscore"] = [=, this] {
    return Options(Words{"ZPOPBYSCORE", key()} + scores(),
                   {{"REV"}, {"COUNT", Pick({"1", "3"})}, {"WITHDATA"}});
  };
  cases_["bzpopbyscore"] = [=, this] {
    return Options(Words{"BZPOPBYSCORE", Timeout(), key()} + scores(),
                   {{"REV"}, {"COUNT", Pick({"1", "3"})}, {"WITHDATA"}});
  };
  const auto moved = [=, this](const Words& start) {
    const Words options = {"-inf", Pick({"now", "nowms", "(now"}), "ADD", Pick({"30", "-5", "0"})};
    if (Chance(2)) return Options(start + options, {{"COUNT", Pick({"1", "3"})}, {"WITHDATA"}});
    return Options(start + scores(),
                   {{"REV"}, {"COUNT", Pick({"1", "3"})}, {"SCORE", Score()}, {"WITHDATA"}});
  };
  cases_["zmovebyscore"] = [=] { return moved({"ZMOVEBYSCORE", key(), key()}); };
  cases_["bzmovebyscore"] = [=, this] { return moved({"BZMOVEBYSCORE", Timeout(), key(), key()}); };
  for (const std::string name : {"zunionstore", "zinterstore", "zdiffstore"}) {
    cases_[name] = [=, this] { return Algebra(name); };
  }
  cases_["zrangestore"] = [=, this] {
    switch (Below(4)) {
      case 3:
        return Words{"ZRANGESTORE", key(), key(), Pick({"-inf", "(nowms"}), "now", "BYSCORE"};
      case 0:
        return Options({"ZRANGESTORE", key(), key(), "-inf", "+inf", "BYSCORE"},
                       {{"LIMIT", "1", "5"}});
      case 1:
        return Words{"ZRANGESTORE", key(), flat(), "[b", "[m", "BYLEX"};
      default:
        return Options({"ZRANGESTORE", key(), key(), "0", "-2"}, {{"REV"}});
    }
  };
}

}  // namespace zsetd
