// Complete requests through parser, engine and commands. Every reply is compared byte for byte with
// that of a model that is simple enough to be trusted.

#include <gtest/gtest.h>

#include "core/util/rng.h"
#include "tests/fuzz/plain_store.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

class EngineBesideModel : public testing::TestWithParam<uint64_t> {
 protected:
  std::string Any(const std::vector<std::string>& words) { return words[rng.Below(words.size())]; }
  std::string Key() { return "k" + std::to_string(rng.Below(10)); }
  std::string Member() { return std::string(1 + rng.Below(2), char('a' + rng.Below(8))); }
  std::string Payload() {
    return std::string(rng.Below(6) == 0 ? rng.Below(400) : rng.Below(9), char('0' + rng.Below(9)));
  }
  std::string FormKey() { return "i" + std::to_string(rng.Below(3)); }
  std::string BigNumber() {
    const std::string base = Any({"900719925474099", "-900719925474099", "922337203685477580", ""});
    return base + std::to_string(rng.Below(8));
  }
  std::string Number() { return std::to_string(static_cast<int64_t>(rng.Below(41)) - 20); }

  // Returns some elements, preceded by `keyword` and their number; `each` makes one element.
  template <class Each>
  PlainStore::Args Named(const std::string& keyword, Each each) {
    const size_t count = 1 + rng.Below(3);
    PlainStore::Args words = {keyword, std::to_string(count)};
    for (size_t i = 0; i < count; ++i) {
      for (const std::string& word : each()) words.push_back(word);
    }
    return words;
  }
  PlainStore::Args Members() {
    return Named("MEMBERS", [this] { return PlainStore::Args{Member()}; });
  }
  PlainStore::Args Names() {
    return Named("FIELDS", [this] { return PlainStore::Args{Member()}; });
  }

  // Returns one of several groups of words.
  PlainStore::Args AnyOf(const std::vector<PlainStore::Args>& groups) {
    return groups[rng.Below(groups.size())];
  }
  static PlainStore::Args Join(const std::vector<PlainStore::Args>& groups) {
    PlainStore::Args words;
    for (const PlainStore::Args& group : groups) {
      words.insert(words.end(), group.begin(), group.end());
    }
    return words;
  }
  std::string Time() { return std::to_string(rng.Below(2'000)); }
  std::string LaterTime() { return std::to_string(1 + rng.Below(2'000)); }

  PlainStore::Args KeyRequest() {
    switch (rng.Below(5)) {
      case 0:
        return {Any({"GET", "DEL", "EXISTS", "TYPE", "PTTL", "PERSIST"}), Key()};
      case 1:
        return {"SET", Key(), Any({Number(), Member()})};
      case 2:
        return {Any({"APPEND", "INCRBY"}), Key(), Number()};
      case 3:
        return {"PEXPIRE", Key(), std::to_string(1 + rng.Below(3'000))};
      default:
        return {"RENAME", Key(), Key()};
    }
  }

  PlainStore::Args SetRequest() {
    switch (rng.Below(12)) {
      case 9:
      case 10:
        return {"ZSETDATA", Key(), Member(), Payload()};
      case 11:
        return {Any({"ZGETDATA", "ZDELDATA"}), Key(), Member()};
      case 7:
        return Join({{"ZRANKOF", Key(), Number()}, AnyOf({{}, {Member()}}), AnyOf({{}, {"REV"}})});
      case 8:
        return Join({{"ZRANGE", Key(), "0", "-1", "MATCH", Any({"a*", "?b", "[c-e]*"})},
                     AnyOf({{}, {"REV"}}),
                     AnyOf({{}, {"LIMIT", std::to_string(rng.Below(3)), "2"}}),
                     AnyOf({{}, {"WITHDATA"}}),
                     {"WITHSCORES"}});
      case 0:
        return AnyOf({{Any({"ZPOPMIN", "ZCARD"}), Key()}, {"ZPOPMIN", Key(), "WITHDATA"}});
      case 1:
        return {Any({"ZREM", "ZSCORE", "ZRANK", "ZREVRANK"}), Key(), Member()};
      case 2:
        return Join({{"ZRANGE", Key(), "0", "-1", "WITHSCORES"}, AnyOf({{}, {"WITHDATA"}})});
      case 3:
        return {"ZADD",   Key(),
                "MAXLEN", std::to_string(1 + rng.Below(12)),
                "KEEP",   Any({"HIGHEST", "LOWEST"}),
                Number(), Member()};
      case 4:
        return {"ZINCRBY", Key(), Number(), Member()};
      default:
        return Join({{"ZADD", Key()},
                     AnyOf({{Any({"NX", "XX", "GT", "LT", "CH", "GET"})}, {"IFEQ", Number()}}),
                     {Number(), Member()}});
    }
  }

  // Keys of this form have no other name, so that the model need not know forms.
  PlainStore::Args FormRequest() {
    switch (rng.Below(6)) {
      case 0:
        return {Any({"ZREM", "ZSCORE", "ZRANK", "ZREVRANK"}), FormKey(), Member()};
      case 1:
        return {"ZRANGE", FormKey(), "0", "-1", "WITHSCORES"};
      case 2:
        return Join(
            {{"ZRANKOF", FormKey(), BigNumber()}, AnyOf({{}, {Member()}}), AnyOf({{}, {"REV"}})});
      case 3:
        return AnyOf({{"ZPOPMIN", FormKey()},
                      {"ZPOPBYSCORE", FormKey(), BigNumber(), BigNumber()},
                      {"ZAROUND", FormKey(), Member(), "1", "2", "WITHSCORES"}});
      default:
        return Join({{"ZADD", FormKey()},
                     AnyOf({{Any({"NX", "XX", "GT", "LT", "CH", "GET"})},
                            {"IFEQ", BigNumber()},
                            {"MAXLEN", "5", "KEEP", Any({"HIGHEST", "LOWEST"})}}),
                     {"FORM", "INT64", BigNumber(), Member()}});
    }
  }

  // No two different scores are close to each other at any time: amounts are odd.
  PlainStore::Args DecayingRequest() {
    const std::string key = "decaying" + std::to_string(rng.Below(2));
    const std::string amount = Any({"1", "3", "5", "7", "11", "13"});
    switch (rng.Below(6)) {
      case 0:
        return {Any({"ZREM", "ZRANK", "ZREVRANK"}), key, Member()};
      case 1:
        return {Any({"ZRANK", "ZREVRANK"}), key, Member(), "TIES", "COMPETITION"};
      case 2:
        return Join({{"ZRANKOF", key, amount}, AnyOf({{}, {Member()}}), AnyOf({{}, {"REV"}})});
      default:
        return Join({{"ZADD", key},
                     AnyOf({{Any({"NX", "XX", "GT", "LT", "CH"})},
                            {"MAXLEN", "9", "KEEP", Any({"HIGHEST", "LOWEST"})}}),
                     {"FORM", "HALFLIFE", std::to_string(PlainStore::kHalfLife / Millis(1000)),
                      amount, Member()}});
    }
  }

  PlainStore::Args MemberDeadlineRequest() {
    const auto pair = [this] { return PlainStore::Args{Number(), Member()}; };
    switch (rng.Below(5)) {
      case 4:
        return Join({{"ZADDEX", Key(), "INCR"},
                     AnyOf({{}, {"PX", LaterTime()}, {"PXAT", "1"}}),
                     {"MEMBERS", "1", Number(), Member()}});
      case 0:
        return Join(
            {{"ZPEXPIRE", Key(), Time()}, AnyOf({{}, {"NX"}, {"XX"}, {"GT"}, {"LT"}}), Members()});
      case 1:
        return Join({{Any({"ZPTTL", "ZTTL", "ZPEXPIRETIME", "ZPERSIST"}), Key()}, Members()});
      default:
        return Join(
            {{"ZADDEX", Key()},
             AnyOf({{}, {"NX"}, {"XX"}, {"GT"}, {"LT"}, {"CH"}}),
             AnyOf({{}, {"PX", LaterTime()}, {"PX", LaterTime()}, {"PXAT", "1"}, {"KEEPTTL"}}),
             Named("MEMBERS", pair)});
    }
  }

  PlainStore::Args RecipeRequest() {
    switch (rng.Below(6)) {
      case 5:
        return Join({{"ZMOVEBYSCORE", Key(), Key(), Number(), Number()},
                     AnyOf({{}, {"REV"}}),
                     AnyOf({{}, {"COUNT", std::to_string(1 + rng.Below(4))}}),
                     AnyOf({{}, {"SCORE", Number()}}),
                     AnyOf({{}, {"WITHDATA"}})});
      case 0:
        return Join({{"ZPOPBYSCORE", Key(), Number(), Number()},
                     AnyOf({{}, {"REV"}}),
                     AnyOf({{}, {"WITHDATA"}}),
                     AnyOf({{}, {"COUNT", std::to_string(1 + rng.Below(4))}})});
      case 1:
        return {"ZMOVE", Key(), Key(), Member(), Member(), Member()};
      case 2:
        return Join({{"ZAROUND", Key(), Member(), std::to_string(rng.Below(3)),
                      std::to_string(rng.Below(3))},
                     AnyOf({{}, {"REV"}}),
                     AnyOf({{}, {"WITHDATA"}}),
                     {"WITHSCORES"}});
      case 3:
        return AnyOf({{Any({"ZMRANK", "ZMREVRANK"}), Key(), Member(), Member()},
                      {Any({"ZRANK", "ZREVRANK"}), Key(), Member(), "TIES", "COMPETITION"}});
      default:
        return Join(
            {{"ZUNION", "2", Key(), Key()},
             AnyOf({{}, {"REV"}}),
             AnyOf({{}, {"BYSCORE", Number(), Number()}}),
             AnyOf({{}, {"LIMIT", std::to_string(rng.Below(4)), std::to_string(rng.Below(6))}}),
             {"WITHSCORES"}});
    }
  }

  PlainStore::Args HashRequest() {
    const auto pair = [this] { return PlainStore::Args{Member(), Number()}; };
    switch (rng.Below(7)) {
      case 0:
        return {"HSET", Key(), Member(), Number()};
      case 1:
        return AnyOf({{Any({"HGET", "HDEL"}), Key(), Member()}, {"HLEN", Key()}});
      case 2:
        return Join(
            {{"HPEXPIRE", Key(), Time()}, AnyOf({{}, {"NX"}, {"XX"}, {"GT"}, {"LT"}}), Names()});
      case 3:
        return Join(
            {{Any({"HPTTL", "HTTL", "HPEXPIRETIME", "HPERSIST", "HGETDEL"}), Key()}, Names()});
      case 4:
        return Join({{"HGETEX", Key()},
                     AnyOf({{}, {"PX", LaterTime()}, {"PXAT", "1"}, {"PERSIST"}}),
                     Names()});
      default:
        return Join({{"HSETEX", Key()},
                     AnyOf({{}, {}, {"FNX"}, {"FXX"}}),
                     AnyOf({{}, {"PX", LaterTime()}, {"PXAT", "1"}, {"KEEPTTL"}}),
                     Named("FIELDS", pair)});
    }
  }

  PlainStore::Args Request() {
    switch (rng.Below(8)) {
      case 0:
        return KeyRequest();
      case 1:
        return SetRequest();
      case 2:
        if (rng.Below(3) == 0) return FormRequest();
        return rng.Below(3) == 0 ? DecayingRequest() : SetRequest();
      case 3:
        return RecipeRequest();
      case 4:
      case 5:
        return MemberDeadlineRequest();
      default:
        return HashRequest();
    }
  }

  Rng rng{GetParam()};
  EnginePeer peer;
  PlainStore model;
};

TEST_P(EngineBesideModel, RepliesLikeTheModel) {
  SCOPED_TRACE(GetParam());
  Millis now = peer.engine().store().now();
  model.AdvanceTo(now);
  for (int step = 0; step < 20'000; ++step) {
    if (rng.Below(20) == 0) {
      const Millis time(rng.Below(500));
      if (rng.Below(2) == 0) {
        peer.Pass(time);
      } else {  // the commands find expired elements
        peer.engine().executor().AdvanceTo(now + time);
      }
      model.AdvanceTo(now += time);
    }
    const PlainStore::Args request = Request();
    peer.Send("a", Multibulk(request));
    ASSERT_EQ(peer.Receive("a", Millis(0)), model.Answer(request))
        << "step " << step << ": " << testing::PrintToString(request);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineBesideModel, testing::Values(1, 2, 3));

}  // namespace
}  // namespace zsetd
