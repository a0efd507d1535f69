// Requests that run while several threads share the engine. These tests run on one thread: they
// check which requests run so, that nothing is changed, and that measurements are complete.
#include "server/engine/port/concurrent_reads.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command_table.h"
#include "server/engine/engine.h"
#include "server/engine/metrics/slow_log.h"

namespace zsetd::concurrent_reads_test {
namespace {

constexpr Millis kStart{1'000'000};

class ConcurrentReadsTest : public testing::Test {
 protected:
  ConcurrentReadsTest() { engine_.clients().Attach(client_); }
  ~ConcurrentReadsTest() override {
    reads_.reset();
    engine_.clients().Detach(client_);
  }

  Host TestHost() {
    Host host;
    host.stopwatch = [this] { return stopwatch_ += step_; };
    host.wall_clock = [] { return Micros(kStart); };
    return host;
  }

  // Runs the request alone and returns the reply.
  std::string Alone(std::vector<std::string_view> words) {
    engine_.executor().Execute(client_, words);
    return TakeReply();
  }

  // Runs the request in a shared turn. Returns "alone" if it must run alone.
  std::string Shared(std::vector<std::string_view> words) {
    if (!reads_->MayBegin(engine_.store().now()) || !reads_->MayServe(client_)) return "alone";
    if (reads_->Run(client_, words)) return TakeReply();
    EXPECT_EQ(TakeReply(), "");
    return "alone";
  }

  std::string TakeReply() { return std::string(std::exchange(client_.output.buffer, {}).view()); }

  void Configure(void (*change)(Settings&)) {
    Settings settings = engine_.settings();
    change(settings);
    ASSERT_TRUE(engine_.Configure(settings).ok());
  }

  const Stats& stats() {
    engine_.metrics().Gather();
    return engine_.metrics().stats();
  }

  Micros stopwatch_{0};
  Micros step_{1};
  Engine engine_{Settings(), AllCommands(), 1, kStart, TestHost()};
  Client client_{1, "127.0.0.1:50000", "127.0.0.1:6379", kStart, [] {}};
  std::unique_ptr<ConcurrentReads> reads_ = std::make_unique<ConcurrentReads>(engine_);
};

TEST_F(ConcurrentReadsTest, RepliesAsAlone) {
  Alone({"SET", "string", "value"});
  Alone({"ZADD", "board", "1", "a", "2", "b"});
  Alone({"HSET", "hash", "field", "value"});
  Alone({"SADD", "set", "member"});
  Alone({"RPUSH", "list", "x", "y"});
  const std::vector<std::vector<std::string_view>> requests = {
      {"GET", "string"},
      {"MGET", "string", "board", "none"},
      {"STRLEN", "string"},
      {"EXISTS", "string", "none", "board"},
      {"TTL", "string"},
      {"TYPE", "board"},
      {"ZSCORE", "board", "a"},
      {"ZMSCORE", "board", "a", "none"},
      {"ZRANK", "board", "b"},
      {"ZREVRANK", "board", "b", "WITHSCORE"},
      {"ZCARD", "board"},
      {"ZRANGE", "board", "0", "-1", "WITHSCORES"},
      {"ZCOUNT", "board", "-inf", "(2"},
      {"HGETALL", "hash"},
      {"HMGET", "hash", "field", "none"},
      {"SISMEMBER", "set", "member"},
      {"SCARD", "set"},
      {"LRANGE", "list", "0", "-1"},
      {"LINDEX", "list", "1"},
      {"LLEN", "list"},
      {"GET", "none"}};
  for (const auto& request : requests) {
    EXPECT_EQ(Shared(request), Alone(request)) << request[0];
  }
}

// Rows of other commands could change data while other threads read it.
TEST_F(ConcurrentReadsTest, RowsOnlyReadAndTakeACall) {
  size_t rows = 0;
  for (const Command& row : engine_.commands().rows()) {
    if (!row.concurrent) continue;
    ++rows;
    EXPECT_TRUE(row.Has(kReadOnly)) << row.name;
    EXPECT_FALSE(row.HasAny(kWrite | kBlocking | kMayReplicate | kMovableKeys | kPubSub))
        << row.name;
    EXPECT_NE(row.keys.first, 0) << row.name;
  }
  EXPECT_GE(rows, 40u);
}

// Every row, with no, few and many arguments: nothing but replies. In debug builds Keys asserts it.
TEST_F(ConcurrentReadsTest, ChangesNothing) {
  Alone({"ZADD", "key", "1", "a", "2", "b"});
  const uint64_t changes = engine_.store().change_count();
  for (const Command& row : engine_.commands().rows()) {
    for (size_t count = 1; count < 6; ++count) {
      std::vector<std::string_view> words = {row.name, "key", "1", "2", "3", "4"};
      words.resize(count);
      Shared(words);
    }
  }
  EXPECT_EQ(engine_.store().change_count(), changes);
  EXPECT_EQ(engine_.store().database(0).keys().size(), 1u);
}

TEST_F(ConcurrentReadsTest, OtherCommandsAndErrorsRunAlone) {
  Alone({"SET", "string", "value"});
  EXPECT_EQ(Shared({"SET", "string", "x"}), "alone");
  EXPECT_EQ(Shared({"UNKNOWN", "string"}), "alone");
  EXPECT_EQ(Shared({"GET"}), "alone");
  EXPECT_EQ(Shared({"ZSCORE", "string", "a"}), "alone");     // WRONGTYPE
  EXPECT_EQ(Shared({"ZRANGE", "none", "x", "y"}), "alone");  // not integers
  EXPECT_EQ(Shared({"MGET", "string", "string"}).substr(0, 2), "*2");
  EXPECT_EQ(stats().error_replies, 0u);
}

TEST_F(ConcurrentReadsTest, AClientWithAStateRunsAlone) {
  Alone({"SET", "string", "value"});
  Alone({"MULTI"});
  EXPECT_EQ(Shared({"GET", "string"}), "alone");
  Alone({"DISCARD"});
  EXPECT_NE(Shared({"GET", "string"}), "alone");
  Alone({"HELLO", "3"});
  Alone({"CLIENT", "TRACKING", "ON"});
  EXPECT_EQ(Shared({"GET", "string"}), "alone");
  Alone({"CLIENT", "TRACKING", "OFF"});
  EXPECT_NE(Shared({"GET", "string"}), "alone");
  Alone({"CLIENT", "REPLY", "SKIP"});
  EXPECT_EQ(Shared({"GET", "string"}), "alone");
}

TEST_F(ConcurrentReadsTest, AServerWithAStateRunsRequestsAlone) {
  Alone({"SET", "string", "value"});
  const auto runs_alone = [&] { return Shared({"GET", "string"}) == "alone"; };
  EXPECT_FALSE(runs_alone());
  EXPECT_FALSE(reads_->MayBegin(engine_.store().now() + Millis(1)));  // the time must advance first
  const struct {
    void (*set)(Settings&);
    void (*reset)(Settings&);
  } settings[] = {
      {[](Settings& s) { s.maxmemory_policy = MaxmemoryPolicy::kAllKeysLfu; },
       [](Settings& s) { s.maxmemory_policy = MaxmemoryPolicy::kNoEviction; }},
      {[](Settings& s) { s.maxmemory = 1; }, [](Settings& s) { s.maxmemory = 0; }},
      {[](Settings& s) { s.maxmemory_clients = 1 << 30; },
       [](Settings& s) { s.maxmemory_clients = 0; }},
      {[](Settings& s) { s.slowlog_log_slower_than = 0; },
       [](Settings& s) { s.slowlog_log_slower_than = 10'000; }},
  };
  for (const auto& each : settings) {
    Configure(each.set);
    EXPECT_TRUE(runs_alone());
    Configure(each.reset);
    Alone({"PING"});  // which ends an eviction that is due
    EXPECT_FALSE(runs_alone());
  }
  Alone({"CLIENT", "PAUSE", "100"});
  EXPECT_TRUE(runs_alone());
}

TEST_F(ConcurrentReadsTest, AMissThatIsNotifiedRunsAlone) {
  Configure(
      [](Settings& settings) { ASSERT_TRUE(settings.notify_keyspace_events.Read("Em").ok()); });
  Alone({"SET", "string", "value"});
  EXPECT_EQ(Shared({"GET", "none"}), "alone");
  EXPECT_NE(Shared({"GET", "string"}), "alone");
}

TEST_F(ConcurrentReadsTest, AnExpiredKeyIsMissing) {
  Alone({"SET", "string", "value", "PX", "5"});
  EXPECT_NE(Shared({"GET", "string"}), "$-1\r\n");
  engine_.executor().AdvanceTo(kStart + Millis(5));
  EXPECT_EQ(Shared({"GET", "string"}), "$-1\r\n");
  EXPECT_EQ(engine_.store().database(0).keys().size(), 1u);  // left to the tick
}

TEST_F(ConcurrentReadsTest, ADueElementRunsAlone) {
  Alone({"ZADD", "board", "1", "a", "2", "b"});
  Alone({"ZPEXPIRE", "board", "5", "MEMBERS", "1", "a"});
  EXPECT_EQ(Shared({"ZCARD", "board"}), ":2\r\n");
  engine_.executor().AdvanceTo(kStart + Millis(5));
  EXPECT_EQ(Shared({"ZCARD", "board"}), "alone");
  EXPECT_EQ(Alone({"ZCARD", "board"}), ":1\r\n");
  EXPECT_EQ(Shared({"ZCARD", "board"}), ":1\r\n");
}

TEST_F(ConcurrentReadsTest, AUserWithoutPermissionRunsAlone) {
  Alone({"SET", "a", "1"});
  Alone({"ACL", "SETUSER", "default", "resetkeys", "~a"});
  EXPECT_EQ(Shared({"GET", "a"}), "$1\r\n1\r\n");
  EXPECT_EQ(Shared({"GET", "b"}), "alone");
  EXPECT_EQ(stats().denied_keys, 0u);
}

TEST_F(ConcurrentReadsTest, MeasurementsAreGathered) {
  Alone({"SET", "string", "value"});
  const Command& get = *engine_.commands().Find("get");
  const uint64_t processed = stats().commands_processed;
  EXPECT_NE(Shared({"GET", "string"}), "alone");
  EXPECT_NE(Shared({"GET", "none"}), "alone");
  EXPECT_EQ(stats().keyspace_hits, 1u);
  EXPECT_EQ(stats().keyspace_misses, 1u);
  EXPECT_EQ(stats().commands_processed, processed + 2);
  EXPECT_EQ(engine_.metrics().of(get).calls, 2u);
  EXPECT_EQ(engine_.metrics().of(get).latency.count(), 2u);
  EXPECT_EQ(client_.commands_run, 3u);
  EXPECT_EQ(client_.last_command, "get");
  engine_.metrics().Gather();
  EXPECT_EQ(engine_.metrics().of(get).calls, 2u);  // added once
}

TEST_F(ConcurrentReadsTest, SlowCommandsAreLogged) {
  Alone({"SET", "string", "value"});
  Configure([](Settings& settings) {
    settings.slowlog_log_slower_than = 5000;
    settings.latency_monitor_threshold = 5;
  });
  engine_.metrics().slow_log().Reset();
  step_ = Micros(6000);
  EXPECT_NE(Shared({"GET", "string"}), "alone");
  engine_.metrics().Gather();
  ASSERT_EQ(engine_.metrics().slow_log().commands().size(), 1u);
  EXPECT_EQ(engine_.metrics().slow_log().commands()[0].argv,
            (std::vector<std::string>{"GET", "string"}));
  EXPECT_EQ(engine_.metrics().latency().events().count("fast-command"), 1u);
}

TEST_F(ConcurrentReadsTest, CommandsAreFoundBeforeTheTurn) {
  Alone({"SET", "string", "value"});
  const std::vector<std::string_view> get = {"GET", "string"};
  const std::vector<std::string_view> length = {"STRLEN", "string"};
  const std::vector<std::string_view> set = {"SET", "string", "other"};
  const std::vector<Args> reads = {get, length};
  const std::vector<Args> mixed = {get, set};
  EXPECT_FALSE(reads_->Find(mixed));
  const auto first = reads_->Find(reads);
  std::optional<FoundCommands> second = reads_->Find(reads);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->end - first->next, 2u);
  EXPECT_EQ(second->next, first->end);
  ASSERT_TRUE(reads_->MayBegin(engine_.store().now()));
  EXPECT_TRUE(reads_->Run(client_, get, *second));
  EXPECT_TRUE(reads_->Run(client_, length, *second));
  EXPECT_EQ(second->next, second->end);
  EXPECT_TRUE(reads_->Run(client_, get, *second));  // is looked up
  EXPECT_EQ(TakeReply(), "$5\r\nvalue\r\n:5\r\n$5\r\nvalue\r\n");
}

TEST_F(ConcurrentReadsTest, UsesOfKeysAreRecorded) {
  Alone({"SET", "string", "value"});
  Alone({"SET", "deadline", "value", "EX", "1000"});
  engine_.executor().AdvanceTo(kStart + Millis(90'000));
  for (const std::string_view key : {"string", "deadline"}) {
    EXPECT_NE(Shared({"TTL", key}), "alone");
    EXPECT_EQ(Alone({"OBJECT", "IDLETIME", key}), ":90\r\n") << key;
    EXPECT_NE(Shared({"GET", key}), "alone");
    EXPECT_EQ(Alone({"OBJECT", "IDLETIME", key}), ":0\r\n") << key;
  }
  EXPECT_EQ(Alone({"TTL", "deadline"}), ":910\r\n");
}

}  // namespace
}  // namespace zsetd::concurrent_reads_test
