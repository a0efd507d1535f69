// The units that are propagated, how they are framed, and the form in which each command is
// propagated.
#include "server/engine/propagation/effects.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/engine/applier.h"
#include "server/engine/propagation/unit.h"
#include "tests/propagation/recorder.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {
namespace {

class EffectsTest : public testing::Test {
 protected:
  EffectsTest() { peer_.engine().effects().set_log(&journal_); }
  ~EffectsTest() override { peer_.engine().effects().set_log(nullptr); }

  // Sends requests, one per line, and returns the requests that they propagated.
  std::string Send(const std::string& lines, const std::string& client = "a") {
    std::string bytes;
    for (const char each : lines)
      bytes += each == '\n' ? std::string("\r\n") : std::string(1, each);
    peer_.Send(client, bytes + "\r\n");
    peer_.Receive(client, Millis(0));
    return Plain(journal_.TakeBytes());
  }

  EnginePeer peer_;
  Recorder journal_;
};

TEST_F(EffectsTest, RequestThatChangesDataIsPropagatedUnchanged) {
  EXPECT_EQ(Send("ZADD z 1 x"), "SELECT 0; zadd z 1 x");
  EXPECT_EQ(Send("ZADD z 1 x"), "");
  EXPECT_EQ(Send("ZSCORE z x"), "");
  EXPECT_EQ(Send("ZADD z nonsense x"), "");
  EXPECT_EQ(Send("ZADD z 2 x"), "zadd z 2 x");
}

TEST_F(EffectsTest, UnitSelectsItsDatabaseIfItDiffers) {
  EXPECT_EQ(Send("SET k v"), "SELECT 0; set k v");
  EXPECT_EQ(Send("SELECT 3\nSET k v"), "SELECT 3; set k v");
  EXPECT_EQ(Send("SET k w"), "set k w");
  peer_.engine().effects().ForgetDatabase();
  EXPECT_EQ(Send("SET k x"), "SELECT 3; set k x");
  EXPECT_EQ(Send("MULTI\nSET k y\nSELECT 0\nSET k z\nEXEC"),
            "MULTI; set k y; SELECT 0; set k z; EXEC");
}

TEST_F(EffectsTest, TransactionIsOneUnitWithAFrameForSeveralRequests) {
  Send("SET k 1");
  const size_t units = journal_.units();
  EXPECT_EQ(Send("MULTI\nINCR k\nINCR k\nEXEC"), "MULTI; incr k; incr k; EXEC");
  EXPECT_EQ(Send("MULTI\nGET k\nINCR k\nEXEC"), "incr k");
  EXPECT_EQ(Send("MULTI\nGET k\nEXEC"), "");
  EXPECT_EQ(journal_.units(), units + 2);
}

TEST_F(EffectsTest, ScriptPropagatesItsCommands) {
  Send("SET k 1");
  EXPECT_EQ(Send("EVAL \"redis.call('INCR','k') return redis.call('GET','k')\" 0"), "incr k");
  EXPECT_EQ(Send("EVAL \"redis.call('incr','k') redis.call('incr','k')\" 0"),
            "MULTI; incr k; incr k; EXEC");
}

TEST_F(EffectsTest, DeletionOfAnExpiredKeyPrecedesTheCommand) {
  Send("DEBUG SET-ACTIVE-EXPIRE 0\nSET k v PX 10");
  peer_.Pass(Millis(20));
  EXPECT_EQ(Send("SADD k x"), "MULTI; DEL k; sadd k x; EXEC");
}

TEST_F(EffectsTest, DeadlinesOfFieldsAreCommandsOfRedis) {
  Send("HSET h a 1 b 2");
  EXPECT_EQ(Send("HEXPIRE h 10 FIELDS 2 a b"), "HPEXPIREAT h 1800000010000 FIELDS 2 a b");
  EXPECT_EQ(Send("HPERSIST h FIELDS 1 a"), "HPERSIST h FIELDS 1 a");
  EXPECT_EQ(Send("HGETEX h PX 5000 FIELDS 1 a"), "HPEXPIREAT h 1800000005000 FIELDS 1 a");
  EXPECT_EQ(Send("HSETEX h PX 5000 FIELDS 1 c 3"),
            "MULTI; HSET h c 3; HPEXPIREAT h 1800000005000 FIELDS 1 c; EXEC");
  EXPECT_EQ(Send("HPEXPIREAT h 1 FIELDS 1 c"), "HDEL h c");
  Send("CONFIG SET propagation-compatibility 7.0");
  EXPECT_TRUE(Send("HPERSIST h FIELDS 1 a").starts_with("ECHO ")) << Send("HPERSIST h FIELDS 1 b");
  EXPECT_TRUE(Send("HEXPIRE h 10 FIELDS 1 a").starts_with("ECHO "));
  Send("ZADD z 1 a");
  EXPECT_TRUE(Send("ZEXPIRE z 10 MEMBERS 1 a").starts_with("ECHO "));
}

TEST_F(EffectsTest, PayloadsAreForZsetdAlone) {
  Send("ZADD z 1 a 2 b");
  const std::string set = Send("ZSETDATA z a x none y");
  EXPECT_TRUE(set.starts_with("ECHO ")) << set;
  EXPECT_NE(set.find("ZSETDATA"), std::string::npos);
  EXPECT_EQ(set.find("none"), std::string::npos);
  EXPECT_EQ(Send("ZSETDATA z a x"), "");
  EXPECT_EQ(Send("ZDELDATA z b"), "");
  EXPECT_TRUE(Send("ZDELDATA z a").starts_with("ECHO "));
  Send("ZSETDATA z a x");
  EXPECT_TRUE(Send("ZMOVE z y a").starts_with("MULTI; ZREM z a; ZADD y 1 a; ECHO "));
  EXPECT_EQ(Send("ZMOVE z y b"), "MULTI; ZREM z b; ZADD y 2 b; EXEC");
  EXPECT_EQ(Send("ZPOPMIN y WITHDATA"), "ZPOPMIN y 1");
  EXPECT_EQ(Send("ZPOPMAX y 5 WITHDATA"), "ZPOPMAX y 1");
}

TEST_F(EffectsTest, ScoresWithAFormAreExactForZsetdAndRoundedForOthers) {
  const std::string added = Send("ZADD f FORM INT64 9007199254740993 a 9007199254740992 b");
  EXPECT_NE(added.find("; ECHO "), std::string::npos) << added;
  EXPECT_NE(added.find("9007199254740993"), std::string::npos) << added;
  EXPECT_TRUE(added.ends_with("; ZADD f 9007199254740992 a 9007199254740992 b; EXEC")) << added;
  EXPECT_EQ(Send("ZADD f 9007199254740993 a"), "");
  EXPECT_TRUE(Send("ZINCRBY f 1 a").ends_with("; ZADD f 9007199254740994 a; EXEC"));
  // Ranks may differ between rounded and exact scores.
  EXPECT_EQ(Send("ZPOPMIN f"), "ZREM f b");
  EXPECT_TRUE(Send("ZADD f MAXLEN 1 1 b").ends_with("; ZREM f b; EXEC"));
  EXPECT_EQ(Send("ZREMRANGEBYSCORE f -inf now"), "");
  EXPECT_EQ(Send("ZREMRANGEBYRANK f 0 -1"), "ZREM f a");
  Send("ZADD f FORM TUPLE 8 8:DESC END 1/2 a");
  EXPECT_TRUE(Send("ZRANGESTORE g f 0 -1").starts_with("MULTI; DEL g; ECHO "));
  EXPECT_TRUE(Send("ZMOVE g h a").starts_with("MULTI; ZREM g a; ECHO "));
}

// Adds 2,000 elements with these scores to a new set of integers.
std::string AddIntegers(const std::string& key, int64_t first, int64_t step) {
  std::string request = "DEL " + key + "\nZADD " + key + " FORM INT64";
  for (int64_t i = 0; i < 2000; ++i) {
    request += " " + std::to_string(first + i * step) + " m" + std::to_string(i);
  }
  return request;
}

// Only members whose rounded scores equal that of an element outside of the range are named.
TEST_F(EffectsTest, LongRemovalsOfScoresWithAFormArePropagatedByRank) {
  constexpr int64_t kLarge = int64_t{1} << 53;
  Send(AddIntegers("f", 0, 1));
  EXPECT_EQ(Send("ZREMRANGEBYRANK f 1 1500"), "ZREMRANGEBYRANK f 1 1500");
  Send(AddIntegers("f", kLarge, 1));
  // The doubles of kLarge + 3, + 4 and + 5 are equal, like those of kLarge + 1199, + 1200 and +
  // 1201.
  EXPECT_EQ(Send("ZREMRANGEBYRANK f 4 1200"),
            "MULTI; ZREM f m4 m5 m1199 m1200; ZREMRANGEBYRANK f 4 1196; EXEC");
  Send(AddIntegers("f", kLarge, 1));
  EXPECT_EQ(Send("ZREMRANGEBYRANK f 3 1201"), "ZREMRANGEBYRANK f 3 1201");
  Send(AddIntegers("f", kLarge, 1));
  EXPECT_EQ(Send("ZREMRANGEBYRANK f 0 -1"), "ZREMRANGEBYRANK f 0 1999");
  // All elements have one double.
  Send(AddIntegers("f", int64_t{1} << 62, 0));
  const std::string named = Send("ZREMRANGEBYRANK f 1 1500");
  EXPECT_TRUE(named.starts_with("MULTI; ZREM f ")) << named;
  EXPECT_EQ(named.find("RANGE"), std::string::npos) << named;
}

TEST_F(EffectsTest, ScoresThatDecayArePropagatedAsTheyAreStored) {
  const std::string added = Send("ZINCRBY hot 1 a FORM HALFLIFE 60");
  EXPECT_NE(added.find("HALFLIFE"), std::string::npos) << added;
  EXPECT_NE(added.find("LOG2"), std::string::npos) << added;
  const size_t stored = added.find("; ZADD hot ");
  ASSERT_NE(stored, std::string::npos) << added;
  // The score doubles, so that its logarithm grows by one.
  peer_.Pass(Millis(30));
  const double first = std::stod(added.substr(stored + 11));
  const std::string doubled = Send("ZADD hot INCR 1 a");
  const double second = std::stod(doubled.substr(doubled.find("; ZADD hot ") + 11));
  EXPECT_NEAR(second - first, 1, 0.001);
  EXPECT_TRUE(Send("ZREMRANGEBYSCORE hot 1 3").ends_with("ZREM hot a"));
}

// A consumer that receives nothing is created, too. XNACK is propagated as a claim without a
// consumer.
TEST_F(EffectsTest, NewConsumersArePropagatedOnce) {
  Send("XADD s 1-1 f v\nXGROUP CREATE s g $\nXGROUP CREATE s h 0");
  EXPECT_EQ(Send("XREADGROUP GROUP g a STREAMS s >"), "XGROUP CREATECONSUMER s g a");
  EXPECT_EQ(Send("XREADGROUP GROUP g a STREAMS s >"), "");
  EXPECT_EQ(Send("XREADGROUP GROUP g b STREAMS s s > >"), "XGROUP CREATECONSUMER s g b");
  EXPECT_EQ(Send("XREADGROUP GROUP g c BLOCK 1000 STREAMS s >", "b"),
            "XGROUP CREATECONSUMER s g c");
  EXPECT_EQ(Send("XCLAIM s g d 0 9-9"), "XGROUP CREATECONSUMER s g d");
  EXPECT_EQ(Send("XCLAIM s g d 0 9-9"), "");
  EXPECT_EQ(Send("XAUTOCLAIM s g e 0 0"), "XGROUP CREATECONSUMER s g e");
  EXPECT_EQ(Send("XAUTOCLAIM s g e 0 0"), "");
  EXPECT_EQ(Send("XCLAIM s g \"\" 0 9-9 TIME 0"), "XGROUP CREATECONSUMER s g ");
  EXPECT_EQ(Send("XCLAIM s g \"\" 0 1-1 TIME 0 FORCE"),
            "XCLAIM s g  0 1-1 TIME 1 RETRYCOUNT 2 FORCE JUSTID LASTID 1-1");
  const std::string with_entries = Send("XREADGROUP GROUP h a STREAMS s >");
  EXPECT_NE(with_entries.find("XCLAIM s h a 0 1-1"), std::string::npos) << with_entries;
  EXPECT_EQ(with_entries.find("CREATECONSUMER"), std::string::npos) << with_entries;
}

TEST_F(EffectsTest, KeyThatExpiresByItselfIsAUnit) {
  Send("MSET a 1 b 2\nPEXPIRE a 10\nPEXPIRE b 20");
  peer_.Pass(Millis(30));
  EXPECT_EQ(Plain(journal_.TakeBytes()), "DEL a; DEL b");
}

TEST_F(EffectsTest, ServedClientIsAUnitAfterTheOneThatServedIt) {
  Send("BLPOP l 0", "waiting");
  EXPECT_EQ(Send("MULTI\nRPUSH l x\nRPUSH l y\nEXEC"),
            "MULTI; SELECT 0; rpush l x; rpush l y; EXEC; lpop l");
}

TEST_F(EffectsTest, StreamContainsTheLogsUnitsAndMessages) {
  Recorder stream;
  peer_.engine().effects().set_stream(&stream);
  EXPECT_EQ(Send("PUBLISH c m"), "");
  EXPECT_EQ(Plain(stream.TakeBytes()), "publish c m");
  EXPECT_EQ(Send("SET k v"), "SELECT 0; set k v");
  EXPECT_EQ(Plain(stream.TakeBytes()), "SELECT 0; set k v");
  EXPECT_EQ(peer_.Find("a")->streamed_until, static_cast<int64_t>(stream.position()));
  peer_.engine().effects().set_stream(nullptr);
}

// For example REPLICAOF NO ONE within a transaction of a writable replica.
TEST_F(EffectsTest, StreamThatBeginsWithinAUnitReceivesTheWholeUnit) {
  Recorder stream;
  Effects& effects = peer_.engine().effects();
  effects.set_stream(&stream);
  effects.set_passes_on(true);
  Unit before(effects);
  effects.Add(3, {"SET", "before", "1"});
  before.Commit();
  Unit unit(effects);
  effects.Add(3, {"SET", "a", "1"});
  effects.set_passes_on(false);
  effects.Add(3, {"SET", "b", "2"});
  unit.Commit();
  EXPECT_EQ(Plain(stream.TakeBytes()), "MULTI; SELECT 3; SET a 1; SELECT 3; SET b 2; EXEC");
  EXPECT_EQ(journal_.units(), 2u);
  effects.set_stream(nullptr);
}

TEST_F(EffectsTest, JournalThatIsRemovedReceivesNoPartOfAUnit) {
  Recorder stream;
  Effects& effects = peer_.engine().effects();
  effects.set_stream(&stream);
  Unit unit(effects);
  effects.Add(0, {"SET", "a", "1"});
  effects.set_stream(nullptr);
  EXPECT_EQ(journal_.units() + stream.units(), 0u);
  effects.set_log(nullptr);
  unit.Commit();
  EXPECT_EQ(journal_.units() + stream.units(), 0u);
}

TEST_F(EffectsTest, NestedScopesFormOneUnitThatTheOutermostEnds) {
  Effects& effects = peer_.engine().effects();
  {
    Unit outer(effects);
    effects.Add(0, {"SET", "a", "1"});
    {
      const Unit inner(effects);
      effects.Add(0, {"SET", "b", "2"});
    }
    EXPECT_EQ(journal_.units(), 0u);
    const Unit moved = std::move(outer);
    effects.Add(0, {"SET", "c", "3"});
  }
  EXPECT_EQ(journal_.units(), 1u);
  EXPECT_EQ(Plain(journal_.TakeBytes()), "MULTI; SELECT 0; SET a 1; SET b 2; SET c 3; EXEC");
}

TEST_F(EffectsTest, AppliedUnitsAreLoggedWithTheirDatabase) {
  Effects& effects = peer_.engine().effects();
  effects.Mute(true);
  effects.AppendApplied("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", 2, 2);
  effects.AppendApplied("*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n", 2, 3);
  effects.AppendApplied("*2\r\n$3\r\nDEL\r\n$1\r\nm\r\n", 3, 3);
  effects.ForgetDatabase();
  effects.AppendApplied("*2\r\n$3\r\nDEL\r\n$1\r\nn\r\n", 3, 3);
  effects.Mute(false);
  EXPECT_EQ(Plain(journal_.TakeBytes()), "SELECT 2; SET k v; DEL k; DEL m; SELECT 3; DEL n");
}

TEST_F(EffectsTest, ClientKnowsWhereItsLastUnitEnds) {
  Send("SET k v");
  EXPECT_EQ(peer_.Find("a")->propagated_until, journal_.position());
  const uint64_t end = journal_.position();
  Send("SET k w", "b");
  Send("GET k");
  EXPECT_EQ(peer_.Find("a")->propagated_until, end);
  EXPECT_GT(peer_.Find("b")->propagated_until, end);
}

TEST_F(EffectsTest, TimesAreInstants) {
  Send("SET k v");
  EXPECT_EQ(Send("EXPIRE k 10"), "PEXPIREAT k 1800000010000");
  EXPECT_EQ(Send("GETEX k PX 5000"), "PEXPIREAT k 1800000005000");
  EXPECT_EQ(Send("GETEX k PERSIST"), "PERSIST k");
  EXPECT_EQ(Send("SET k v NX GET EX 1"), "");
  EXPECT_EQ(Send("SETEX k 10 v"), "SET k v PXAT 1800000010000");
  EXPECT_EQ(Send("SET k w KEEPTTL GET"), "SET k w KEEPTTL");
  EXPECT_EQ(Send("ZADD z 1 x 2 y EX 10"), "MULTI; ZADD z 1 x 2 y; PEXPIREAT z 1800000010000; EXEC");
  EXPECT_EQ(Send("ZINCRBY z 0.5 x KEEPTTL"), "ZADD z INCR 0.5 x");
  EXPECT_EQ(Send("PEXPIREAT k 1"), "DEL k");
}

TEST_F(EffectsTest, ResultsReplaceCommandsThatServersMayComputeDifferently) {
  Send("SET n 1\nSADD s x y z\nSADD one x\nRPUSH l 2 1\nZADD z 1 m");
  EXPECT_EQ(Send("INCRBYFLOAT n 0.5"), "SET n 1.5 KEEPTTL");
  EXPECT_EQ(Send("HINCRBYFLOAT h f 0.5"), "HSET h f 0.5");
  EXPECT_EQ(Send("SPOP one"), "SREM one x");
  EXPECT_EQ(Send("SPOP s 3"), "DEL s");
  EXPECT_EQ(Send("SORT l STORE sorted"), "MULTI; DEL sorted; RPUSH sorted 1 2; EXEC");
  EXPECT_EQ(Send("ZUNIONSTORE u 2 z z AGGREGATE COUNT"), "MULTI; DEL u; ZADD u 2 m; EXEC");
  EXPECT_EQ(Send("BZMPOP 0 1 z MIN COUNT 9"), "zpopmin z 1");
  EXPECT_EQ(Send("BLMOVE l m LEFT RIGHT 0"), "LMOVE l m LEFT RIGHT");
}

TEST_F(EffectsTest, LongRunsAreDivided) {
  std::string add = "SADD s";
  for (int i = 0; i < 3000; ++i) add += " " + std::to_string(i);
  Send(add);
  peer_.Send("a", "SPOP s 2500\r\n");
  const std::vector<Words> requests = Requests(journal_.TakeBytes());
  ASSERT_EQ(requests.size(), 5u);  // between MULTI and EXEC
  EXPECT_EQ(requests[1].size(), 2 + 1024u);
  EXPECT_EQ(requests[2].size(), 2 + 1024u);
  EXPECT_EQ(requests[3].size(), 2 + 452u);
}

TEST_F(EffectsTest, FlushOfAnEmptyDatabaseIsPropagated) {
  EXPECT_EQ(Send("FLUSHALL"), "SELECT 0; flushall");
  EXPECT_EQ(Send("FLUSHDB"), "flushdb");
}

class ApplierTest : public testing::Test {
 protected:
  absl::Status Apply(const std::vector<std::string_view>& request) {
    return applier_.Apply(request);
  }
  const Entry* Find(std::string_view key) { return peer_.engine().store().database(0).Find(key); }

  EnginePeer peer_;
  Applier applier_{peer_.engine()};
};

TEST_F(ApplierTest, NoKeyExpiresWhileItRuns) {
  applier_.Begin();
  EXPECT_TRUE(Apply({"SET", "k", "v", "PXAT", "1000"}).ok());
  EXPECT_TRUE(Apply({"APPEND", "k", "w"}).ok());
  ASSERT_NE(Find("k"), nullptr);
  EXPECT_EQ(Find("k")->GetIf<ByteString>()->view(), "vw");
  applier_.End();
  EXPECT_EQ(Find("k"), nullptr);
}

TEST_F(ApplierTest, TransactionWithoutExecIsNotRun) {
  applier_.Begin();
  EXPECT_TRUE(Apply({"MULTI"}).ok());
  EXPECT_TRUE(Apply({"SET", "k", "v"}).ok());
  EXPECT_TRUE(applier_.InTransaction());
  EXPECT_EQ(Find("k"), nullptr);
  EXPECT_TRUE(Apply({"EXEC"}).ok());
  EXPECT_NE(Find("k"), nullptr);
  EXPECT_TRUE(Apply({"MULTI"}).ok());
  EXPECT_TRUE(Apply({"DEL", "k"}).ok());
  applier_.Restart();
  EXPECT_NE(Find("k"), nullptr);
  EXPECT_FALSE(Apply({"EXEC"}).ok());
}

// The logs of Redis before version 7 may contain scripts.
TEST_F(ApplierTest, ScriptsAreNotChecked) {
  Settings settings = peer_.engine().settings();
  settings.maxmemory = 1;
  ASSERT_TRUE(peer_.engine().Configure(settings).ok());
  peer_.Send("a", Multibulk({"GET", "k"}));  // notices that memory is short
  EXPECT_TRUE(peer_.engine().store().LacksMemory());
  peer_.engine().disk().set_log_error("No space left on device");
  applier_.Begin();
  EXPECT_TRUE(Apply({"EVAL", "return redis.call('set', KEYS[1], 'v')", "1", "k"}).ok());
  EXPECT_NE(Find("k"), nullptr);
  EXPECT_TRUE(Apply({"EVAL", "#!lua\nreturn redis.call('set', KEYS[1], 'v')", "1", "l"}).ok());
  EXPECT_NE(Find("l"), nullptr);
}

TEST_F(ApplierTest, UnknownOrFailingCommandIsAnError) {
  applier_.Begin();
  EXPECT_FALSE(Apply({"NOSUCHCOMMAND"}).ok());
  EXPECT_FALSE(Apply({"SET", "k"}).ok());
  EXPECT_TRUE(Apply({"SET", "k", "v"}).ok());
  EXPECT_FALSE(Apply({"LPUSH", "k", "x"}).ok());
}

}  // namespace
}  // namespace zsetd
