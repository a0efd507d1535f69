// Requests on values in which very many elements have expired: they wait until all of these are
// removed. Other clients are served in the meantime.
#include "server/engine/notify/overdue_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"
#include "tests/propagation/follower.h"
#include "tests/propagation/recorder.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd {
namespace {

constexpr int kMany = 3000;
constexpr Micros kNoTime{-1};  // a tick with this budget does the minimum
const std::string kNone;       // no reply yet

class OverdueRequestsTest : public testing::Test {
 protected:
  std::string Ask(const std::string& client, const Words& words) {
    peer_.Send(client, Multibulk(words));
    return peer_.Receive(client, Millis(0));
  }
  std::string Receive(const std::string& client) { return peer_.Receive(client, Millis(0)); }

  // Creates a set of this many members that expire after a second, and the member "stays".
  void MakeSet(const std::string& key, int members) {
    Words add = {"ZADD", key, "-1", "stays"};
    Words expire = {"ZPEXPIRE", key, "1000", "MEMBERS", std::to_string(members)};
    for (int i = 0; i < members; ++i) {
      const std::string member = "m" + std::to_string(i);
      add.insert(add.end(), {std::to_string(i % 7), member});
      expire.push_back(member);
    }
    Ask("maker", add);
    Ask("maker", expire);
  }

  void AdvanceTo(Millis time) { peer_.engine().executor().AdvanceTo(time); }
  void Advance() { AdvanceTo(now() + Millis(1000)); }
  Millis now() { return peer_.engine().store().now(); }

  void Tick() {
    peer_.engine().executor().Tick(kNoTime);
    peer_.Send("nobody", "");
  }

  // Returns the reply to a request that waits, and the number of ticks until it.
  std::pair<std::string, int> Await(const std::string& client) {
    for (int ticks = 1; ticks < 1000; ++ticks) {
      Tick();
      if (std::string reply = Receive(client); reply != kNone) return {reply, ticks};
    }
    return {kNone, 0};
  }

  EnginePeer peer_;
};

TEST_F(OverdueRequestsTest, RemovesFewExpiredElementsWithoutWaiting) {
  MakeSet("few", 500);
  Advance();
  EXPECT_EQ(Ask("a", {"ZCARD", "few"}), ":1\r\n");
}

TEST_F(OverdueRequestsTest, WaitForManyExpiredElementsWhileOthersAreServed) {
  MakeSet("many", kMany);
  MakeSet("few", 10);
  Advance();
  EXPECT_EQ(Ask("a", {"ZRANK", "many", "stays"}), kNone);
  EXPECT_EQ(Ask("b", {"ZCARD", "many"}), kNone);
  EXPECT_EQ(Ask("c", {"PING"}), "+PONG\r\n");
  EXPECT_EQ(peer_.engine().executor().overdue().size(), 2u);
  EXPECT_EQ(peer_.engine().executor().NextDeadline(), now());
  const auto [reply, ticks] = Await("a");
  EXPECT_EQ(reply, ":0\r\n");
  EXPECT_GT(ticks, 5);
  Tick();
  EXPECT_EQ(Receive("b"), ":1\r\n");
  EXPECT_EQ(peer_.engine().executor().overdue().size(), 0u);
}

TEST_F(OverdueRequestsTest, ManyKeysWithFewDueAreBoundedTogether) {
  for (int i = 0; i < 10; ++i) MakeSet("set" + std::to_string(i), 300);
  Advance();
  int waiting = 0;
  for (int i = 0; i < 10; ++i) {
    waiting += Ask("c" + std::to_string(i), {"ZCARD", "set" + std::to_string(i)}) == kNone;
  }
  EXPECT_EQ(waiting, 7);
}

TEST_F(OverdueRequestsTest, LaterRequestsOfTheClientWaitToo) {
  MakeSet("many", kMany);
  Advance();
  EXPECT_EQ(Ask("a", {"ZCARD", "many"}), kNone);
  EXPECT_EQ(Ask("a", {"PING"}), kNone);
  EXPECT_EQ(Await("a").first, ":1\r\n+PONG\r\n");
}

TEST_F(OverdueRequestsTest, TransactionsAndScriptsWaitForTheKeysTheyName) {
  MakeSet("many", kMany);
  MakeSet("other", kMany);
  Advance();
  Ask("a", {"MULTI"});
  EXPECT_EQ(Ask("a", {"ZCARD", "many"}), "+QUEUED\r\n");
  EXPECT_EQ(Ask("a", {"EXEC"}), kNone);
  EXPECT_EQ(Await("a").first, "*1\r\n:1\r\n");
  const Words script = {"EVAL", "return redis.call('zcard', KEYS[1])", "1", "other"};
  EXPECT_EQ(Ask("b", script), kNone);
  EXPECT_EQ(Await("b").first, ":1\r\n");
}

TEST_F(OverdueRequestsTest, ScriptsSeeNoExpiredElementsInUndeclaredKeys) {
  MakeSet("many", kMany);
  Advance();
  EXPECT_EQ(Ask("a", {"EVAL", "return redis.call('zcard', 'many')", "0"}), ":1\r\n");
}

TEST_F(OverdueRequestsTest, DoNotWaitWithoutActiveExpiry) {
  MakeSet("many", kMany);
  peer_.engine().store().set_expires_actively(false);
  Advance();
  EXPECT_EQ(Ask("a", {"ZCARD", "many"}), ":1\r\n");
}

TEST_F(OverdueRequestsTest, AreForgottenWhenTheirClientLeaves) {
  MakeSet("many", kMany);
  Advance();
  EXPECT_EQ(Ask("a", {"ZADD", "many", "1", "new"}), kNone);
  peer_.HangUp("a");
  EXPECT_EQ(peer_.engine().executor().overdue().size(), 0u);
  EXPECT_EQ(Ask("b", {"ZCARD", "many"}), kNone);
  EXPECT_EQ(Await("b").first, ":1\r\n");
}

TEST_F(OverdueRequestsTest, OnOneKeyDoNotDelayThoseOnAnother) {
  MakeSet("large", 4 * kMany);
  MakeSet("smaller", kMany);
  Advance();
  EXPECT_EQ(Ask("a", {"ZCARD", "large"}), kNone);
  EXPECT_EQ(Ask("b", {"ZCARD", "smaller"}), kNone);
  EXPECT_EQ(Await("b").first, ":1\r\n");
  EXPECT_EQ(Receive("a"), kNone);
  EXPECT_EQ(Await("a").first, ":1\r\n");
}

TEST_F(OverdueRequestsTest, BlockedClientsAreServedOnceExpiredElementsAreRemoved) {
  MakeSet("many", kMany);
  const std::string due = std::to_string((now() + Millis(1000)).count());
  Ask("maker", {"ZADD", "many", due, "job"});
  EXPECT_EQ(Ask("a", {"BZPOPBYSCORE", "0", "many", "100", "nowms"}), kNone);
  Advance();
  Tick();
  EXPECT_EQ(Receive("a"), kNone);
  const std::string reply = Await("a").first;
  EXPECT_NE(reply.find("job"), std::string::npos) << reply;
}

TEST_F(OverdueRequestsTest, FieldsOfHashes) {
  Words set = {"HSET", "many", "stays", "x"};
  Words expire = {"HPEXPIRE", "many", "1000", "FIELDS", std::to_string(kMany)};
  for (int i = 0; i < kMany; ++i) {
    set.insert(set.end(), {"f" + std::to_string(i), "x"});
    expire.push_back("f" + std::to_string(i));
  }
  Ask("maker", set);
  Ask("maker", expire);
  Advance();
  EXPECT_EQ(Ask("a", {"HLEN", "many"}), kNone);
  EXPECT_EQ(Await("a").first, ":1\r\n");
}

// Several clients use one set, most of whose members expire together at times. MONITOR reports to a
// model which request ran when.
class OverdueModel : public OverdueRequestsTest {
 protected:
  struct Member {
    int score = 0;
    std::optional<Millis> deadline;
  };

  OverdueModel() {
    peer_.engine().effects().set_log(&journal_);
    Ask("monitor", {"MONITOR"});
  }
  ~OverdueModel() override { peer_.engine().effects().set_log(nullptr); }

  std::string AnyMember() { return "m" + std::to_string(rng_.Below(4000)); }

  Words AnyRequest() {
    const std::string member = AnyMember(), score = std::to_string(rng_.Below(9));
    switch (rng_.Below(6)) {
      case 0:
        return {"ZCARD", "s"};
      case 1:
        return {"ZRANK", "s", member};
      case 2:
        return {"ZADD", "s", score, member};
      case 3:
        return {"ZREM", "s", member};
      case 4:
        return {"ZCOUNT", "s", score, "+inf"};
      default:
        return {"ZPEXPIRE", "s", std::to_string(1 + rng_.Below(500)), "MEMBERS", "1", member};
    }
  }

  void Expire() {
    std::erase_if(model_, [&](const auto& each) {
      return each.second.deadline && *each.second.deadline <= now();
    });
  }

  size_t RankOf(const std::string& member) {
    const std::pair place(model_.at(member).score, member);
    return std::ranges::count_if(
        model_, [&](const auto& each) { return std::pair(each.second.score, each.first) < place; });
  }

  // Returns the model's reply.
  std::string Run(const Words& words) {
    Expire();
    const std::string member = words.back();
    const bool exists = model_.contains(member);
    const auto integer = [](size_t value) { return ":" + std::to_string(value) + "\r\n"; };
    if (words[0] == "ZCARD") return integer(model_.size());
    if (words[0] == "ZRANK") return exists ? integer(RankOf(member)) : "$-1\r\n";
    if (words[0] == "ZREM") return integer(model_.erase(member));
    if (words[0] == "ZADD") {
      model_[member] = {std::stoi(words[2]), std::nullopt};
      return integer(exists ? 0 : 1);
    }
    if (words[0] == "ZCOUNT") {
      return integer(std::ranges::count_if(
          model_, [&](const auto& each) { return each.second.score >= std::stoi(words[2]); }));
    }
    if (!exists) return "*1\r\n:-2\r\n";
    model_[member].deadline = now() + Millis(std::stoi(words[2]));
    return "*1\r\n:1\r\n";
  }

  // Returns the requests that ran since the last call, as MONITOR reports them.
  std::vector<Words> TakeRun() {
    std::vector<Words> run;
    Words words;
    const std::string lines = Receive("monitor");
    bool quoted = false;
    for (const char c : lines) {
      if (c == '\n') {
        if (!words.empty()) run.push_back(std::exchange(words, {}));
      } else if (c == '"') {
        quoted = !quoted;
        if (quoted) words.emplace_back();
      } else if (quoted) {
        words.back().push_back(c);
      }
    }
    return run;
  }

  // Runs the same requests on the model and compares the replies.
  void Compare() {
    for (const Words& words : TakeRun()) {
      const auto asked = std::ranges::find(waiting_, words, &std::pair<std::string, Words>::second);
      const std::string expected = Run(words);
      if (asked == waiting_.end()) continue;  // a request of Fill()
      ASSERT_EQ(Receive(asked->first), expected) << words[0] << " " << words.back();
      waiting_.erase(asked);
    }
  }

  // Adds many members that expire together.
  void Fill() {
    const std::string at = std::to_string((now() + Millis(100)).count());
    Words add = {"ZADD", "s"}, expire = {"ZPEXPIREAT", "s", at, "MEMBERS", "0"};
    for (int i = 0; i < 2500; ++i) {
      const std::string member = AnyMember();
      const int score = static_cast<int>(rng_.Below(9));
      add.insert(add.end(), {std::to_string(score), member});
      expire.push_back(member);
      model_[member] = {score, now() + Millis(100)};
    }
    expire[4] = std::to_string(expire.size() - 5);
    Ask("maker", add);
    Ask("maker", expire);
    Receive("monitor");
  }

  // Sends a request of a client that does not wait for a reply.
  void AskOne() {
    const std::string client = "c" + std::to_string(rng_.Below(4));
    if (std::ranges::count(waiting_, client, &std::pair<std::string, Words>::first) > 0) return;
    Words words = AnyRequest();
    while (std::ranges::count(waiting_, words, &std::pair<std::string, Words>::second) > 0) {
      words = AnyRequest();
    }
    waiting_.emplace_back(client, words);
    peer_.Send(client, Multibulk(words));
    most_waiting_ = std::max(most_waiting_, peer_.engine().executor().overdue().size());
  }

  void FinishAll() {
    while (peer_.engine().executor().overdue().size() > 0) {
      Tick();
      Compare();
    }
  }

  void CompareFollower() {
    ASSERT_EQ(follower_.Follow(journal_.TakeBytes()), "");
    ASSERT_EQ(Ask("reader", {"DEBUG", "DIGEST"}), follower_.Digest());
    Receive("monitor");
  }

  Rng rng_{1};
  std::map<std::string, Member> model_;
  std::vector<std::pair<std::string, Words>> waiting_;
  size_t most_waiting_ = 0;
  Recorder journal_;
  EngineFollower follower_;
};

TEST_F(OverdueModel, RepliesAndEffectsAreExactDespiteInterleavedRequests) {
  for (int round = 0; round < 12; ++round) {
    FinishAll();
    Fill();
    AdvanceTo(now() + Millis(100));
    for (int step = 0; step < 60; ++step) {
      rng_.Below(3) == 0 ? Tick() : AskOne();
      Compare();
      if (HasFatalFailure()) return;
      if (rng_.Below(40) == 0) AdvanceTo(now() + Millis(rng_.Below(300)));
    }
    FinishAll();
    peer_.Pass(Millis(0));
    CompareFollower();
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(most_waiting_, 4u);
}

}  // namespace
}  // namespace zsetd
