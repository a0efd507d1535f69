// Whole requests through parser, engine and commands, beside a model that is plain enough to be
// believed: every reply is compared byte for byte.

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
  std::string Key() { return "k" + std::to_string(rng.Below(8)); }
  std::string Member() { return std::string(1 + rng.Below(3), char('a' + rng.Below(26))); }
  std::string Number() { return std::to_string(static_cast<int64_t>(rng.Below(41)) - 20); }

  PlainStore::Args Request() {
    switch (rng.Below(8)) {
      case 0:
        return {Any({"GET", "DEL", "EXISTS", "TYPE", "PTTL", "PERSIST", "ZCARD"}), Key()};
      case 1:
        return {"SET", Key(), Any({Number(), Member()})};
      case 2:
        return {Any({"APPEND", "INCRBY"}), Key(), Number()};
      case 3:
        return {"PEXPIRE", Key(), std::to_string(1 + rng.Below(3'000))};
      case 4:
        return Any({"", "r"}).empty() ? PlainStore::Args{"ZPOPMIN", Key()}
                                      : PlainStore::Args{"RENAME", Key(), Key()};
      case 5:
        return {Any({"ZREM", "ZSCORE", "ZRANK"}), Key(), Member()};
      case 6:
        return {"ZRANGE", Key(), "0", "-1", "WITHSCORES"};
      default:
        return {"ZADD", Key(), Any({"NX", "XX", "GT", "LT", "CH"}), Number(), Member()};
    }
  }

  Rng rng{GetParam()};
  EnginePeer peer;
  PlainStore model;
};

TEST_P(EngineBesideModel, AnswersTheSame) {
  SCOPED_TRACE(GetParam());
  Millis passed{0};
  for (int step = 0; step < 20'000; ++step) {
    if (rng.Below(20) == 0) {
      const Millis time(rng.Below(500));
      peer.Pass(time);
      model.AdvanceTo(passed += time);
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
