// Propagated units, applied elsewhere, produce the same data. The test sends random requests of
// every command that writes, alone, in transactions and in scripts. Clients block; keys expire and
// are evicted. Another engine and redis-server apply the units and are compared after each step.
//
//   PROPAGATION_SEED=7 PROPAGATION_STEPS=100000 build/release/tests/propagation_test
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/hash/hash.h"
#include "core/sorted_set/sorted_set.h"
#include "server/engine/services/migration.h"
#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/score_text.h"
#include "tests/propagation/follower.h"
#include "tests/propagation/random_requests.h"
#include "tests/propagation/recorder.h"
#include "tests/support/server_process.h"
#include "tests/transcript/transcript.h"

namespace zsetd::propagation_test {
namespace {

uint64_t Environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Runs each request in ARGV, each preceded by its number of words.
constexpr std::string_view kScript =
    "local at = 1 "
    "while at <= #ARGV do "
    "  local count = tonumber(ARGV[at]) "
    "  local words = {} "
    "  for i = 1, count do words[i] = ARGV[at + i] end "
    "  redis.pcall(unpack(words)) "
    "  at = at + count + 1 "
    "end";

std::string Show(const std::vector<Words>& requests) {
  std::string text;
  for (const Words& words : requests) text += "  " + Plain(Multibulk(words)) + "\n";
  return text;
}

// A MIGRATE target that accepts keys whose payload is of even size.
class EvenKeysMigration : public Migration {
 public:
  absl::Status Send(const Target&, size_t count, const Pack& pack,
                    std::vector<size_t>& accepted) override {
    for (size_t number = 0; number < count; ++number) {
      if (pack(number).dump.size() % 2 == 0) accepted.push_back(number);
    }
    return accepted.size() == count ? absl::OkStatus() : Refusal("ERR odd");
  }

  size_t cached_connections() const override { return 0; }
};

class PropagationTest : public testing::Test {
 protected:
  PropagationTest() {
    const Millis real =
        std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch());
    const Millis future = real + std::chrono::hours(24);  // so that redis-server expires nothing
    peer_.Pass(std::max(future - peer_.engine().store().now(), Millis(0)));
    peer_.engine().effects().set_log(&journal_);
    Ask("reader", {"CONFIG", "SET", "propagation-compatibility", "7.0"});
  }
  ~PropagationTest() override { peer_.engine().effects().set_log(nullptr); }

  std::string Ask(const std::string& client, const Words& words) {
    peer_.Send(client, Multibulk(words));
    return peer_.Receive(client, Millis(0));
  }

  // Returns the contents of a bulk string reply.
  std::string AskForBulk(const Words& words) {
    const std::string reply = Ask("reader", words);
    const size_t start = reply.find("\r\n");
    if (!reply.starts_with('$') || reply.starts_with("$-1")) return "none";
    return reply.substr(start + 2, reply.size() - start - 4);
  }

  // Deletes all expired keys. Followers keep each key until a unit deletes it.
  void ReclaimDue() {
    peer_.engine().store().set_expires_actively(true);
    peer_.Pass(Millis(0));
  }

  bool IsWaiting(const std::string& client) {
    const Client* const known = peer_.Find(client);
    return known != nullptr && known->IsWaiting();
  }

  void Run(const std::string& client, const Words& words) {
    trace_.push_back(words);
    Ask(client, words);
  }

  void RunSingle(const std::string& row) {
    const size_t units = journal_.units();
    const Words words = requests_.Of(row);
    trace_.push_back(words);
    last_replies_[row] = Ask("a", words);
    if (journal_.units() > units) propagated_.insert(row);
  }

  // Runs requests of the row on keys of every type, some with a deadline and some without. Each key
  // has the type that its name begins with.
  void RunOnMuch(const std::string& row) {
    Run("a", {"SELECT", "0"});  // the database that DUMP reads
    Run("a", {"FLUSHDB"});
    for (const std::string type :
         {"mset", "setbit", "pfadd", "rpush", "sadd", "hset", "zadd", "geoadd"}) {
      for (int left = 4; left > 0; --left) Run("a", requests_.Of(type));
    }
    for (int left = 8; left > 0; --left) {
      Run("a", {"PEXPIRE", requests_.AnyKey(), "900000"});
      Run("a", requests_.Of("zpexpire"));
      Run("a", requests_.Of("hpexpire"));
      Run("a", requests_.Of("zsetdata"));
    }
    if (row.starts_with("x")) MakePendingEntries();
    if (row.starts_with("function|")) {
      for (int left = 4; left > 0; --left) Run("a", requests_.Of("function|load"));
    }
    for (int left = 6; left > 0 && !propagated_.contains(row); --left) {
      RunSingle(row);
      if (IsWaiting("a")) peer_.Pass(Millis(100));  // its timeout
    }
    peer_.Pass(Millis(100));
  }

  // Their IDs are among those that random requests name.
  void MakePendingEntries() {
    Run("a", {"DEL", "x0"});
    for (int number = 1; number <= 20; ++number) {
      Run("a", {"XADD", "x0", "99999999999999-" + std::to_string(number), "f", "v"});
    }
    Run("a", {"XGROUP", "CREATE", "x0", "g", "0"});
    Run("a", {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "x0", ">"});
  }

  void RunTransaction() {
    Run("a", {"MULTI"});
    for (size_t left = 1 + requests_.rng().Below(4); left > 0; --left) Run("a", requests_.Any());
    if (requests_.rng().Below(3) == 0)
      Run("a", {"SELECT", std::to_string(requests_.rng().Below(3))});
    Run("a", requests_.Any());
    Run("a", {"EXEC"});
  }

  void RunScript() {
    Words words = {"EVAL", std::string(kScript), "0"};
    for (size_t left = 1 + requests_.rng().Below(4); left > 0; --left) {
      const Words request = requests_.Any();
      words.push_back(std::to_string(request.size()));
      words.insert(words.end(), request.begin(), request.end());
    }
    Run("a", words);
  }

  void Block() {
    const std::string client = "w" + std::to_string(requests_.rng().Below(3));
    if (!IsWaiting(client)) Run(client, requests_.Blocking());
  }

  // Keys expire. Sometimes a command is the first to find them.
  void PassTime() {
    const Millis time(1 + requests_.rng().Below(300));
    trace_.push_back({"(time passes)", std::to_string(time.count())});
    if (requests_.rng().Below(2) == 0) return peer_.Pass(time);
    peer_.engine().executor().AdvanceTo(peer_.engine().store().now() + time);
    for (int left = 3; left > 0; --left) Run("a", requests_.Any());
    RunTransaction();
    RunScript();
  }

  void Evict() {
    Settings settings = peer_.engine().settings();
    settings.maxmemory_policy = MaxmemoryPolicy::kAllKeysRandom;
    settings.maxmemory = static_cast<int64_t>(peer_.engine().store().gauge().Used()) - 1;
    trace_.push_back({"(some keys are evicted)"});
    ASSERT_TRUE(peer_.engine().Configure(settings).ok());
    Run("a", {"PING"});
    settings.maxmemory = 0;
    ASSERT_TRUE(peer_.engine().Configure(settings).ok());
  }

  void Step() {
    if (IsWaiting("a")) peer_.Pass(Millis(100));  // its timeout
    const size_t what = requests_.rng().Below(100);
    if (what < 4) Run("a", {"SELECT", std::to_string(requests_.rng().Below(3))});
    if (what < 70) return RunSingle(requests_.AnyName());
    if (what < 78) return RunTransaction();
    if (what < 86) return RunScript();
    if (what < 92) return Block();
    if (what < 99) return PassTime();
    Evict();
  }

  // Passes the units to a follower. Returns false if its data then differs.
  bool Compare(Follower& follower, const std::string& name, const std::string& units,
               const std::string& digest) {
    const std::string wrong = follower.Follow(units);
    const std::string other = follower.Digest();
    if (wrong.empty() && other == digest) return true;
    ADD_FAILURE() << name << " differs (PROPAGATION_SEED=" << seed_ << ", step " << step_ << ")\n"
                  << Show(trace_) << "propagated: " << Plain(units) << "\n"
                  << wrong << "\n"
                  << digest << other;
    return false;
  }

  std::string Digest() { return Ask("reader", {"DEBUG", "DIGEST"}); }

  const uint64_t seed_ = Environment("PROPAGATION_SEED", 1);
  const uint64_t steps_ = Environment("PROPAGATION_STEPS", 2000);
  EnginePeer peer_;
  EvenKeysMigration migration_;
  const Installation installation_ = peer_.engine().services().migration.Install(migration_);
  Recorder journal_;
  RandomRequests requests_{seed_,
                           {.now = [this] { return peer_.engine().store().now(); },
                            .dump =
                                [this](const std::string& key) {
                                  return AskForBulk({"DUMP", key});
                                },
                            .dump_functions =
                                [this] {
                                  return AskForBulk({"FUNCTION", "DUMP"});
                                }}};
  std::vector<Words> trace_;
  std::set<std::string> propagated_;
  std::map<std::string, std::string> last_replies_;  // of single requests, by row
  uint64_t step_ = 0;
};

// Calls visit(name, entry) for each key of all databases. The name has the number of the database.
template <class Visit>
void ForEachKey(Engine& engine, Visit visit) {
  for (int index = 0; index < engine.store().database_count(); ++index) {
    engine.store().database(index).keys().ForEach([&](const Entry& entry) {
      visit(std::to_string(index) + " " + std::string(entry.key()), entry);
    });
  }
}

// The deadlines of keys, members and fields, which a digest omits.
std::map<std::string, int64_t> Deadlines(Engine& engine) {
  std::map<std::string, int64_t> deadlines;
  ForEachKey(engine, [&](const std::string& key, const Entry& entry) {
    const std::optional<Millis> deadline = entry.deadline();
    if (deadline) deadlines[key] = deadline->count();
    const auto add = [&](std::string_view element, std::optional<Millis> its_deadline) {
      const std::string name = key + " " + std::string(element);
      if (its_deadline) deadlines[name] = its_deadline->count();
    };
    if (const SortedSet* const set = entry.GetIf<SortedSet>()) {
      for (auto at = set->At(0); at.valid(); at.Next()) add(at.member(), at.deadline());
    }
    if (const Hash* const hash = entry.GetIf<Hash>()) {
      hash->ForEach([&](const Field& field) { add(field.name, hash->Deadline(field.name)); });
    }
  });
  return deadlines;
}

// The consumers of groups and the numbers of their pending entries, which a digest omits.
std::map<std::string, size_t> Consumers(Engine& engine) {
  std::map<std::string, size_t> consumers;
  ForEachKey(engine, [&](const std::string& key, const Entry& entry) {
    const Stream* const stream = entry.GetIf<Stream>();
    if (stream == nullptr) return;
    for (const auto& [group_name, group] : stream->groups()) {
      for (const auto& [name, consumer] : group.consumers()) {
        consumers[key + " " + group_name + " " + name] = consumer.pending;
      }
    }
  });
  return consumers;
}

// The payloads of members, which a digest omits.
std::map<std::string, std::string> Payloads(Engine& engine) {
  std::map<std::string, std::string> payloads;
  ForEachKey(engine, [&](const std::string& key, const Entry& entry) {
    const SortedSet* const set = entry.GetIf<SortedSet>();
    if (set == nullptr) return;
    for (auto at = set->At(0); at.valid(); at.Next()) {
      if (at.payload()) payloads[key + " " + std::string(at.member())] = *at.payload();
    }
  });
  return payloads;
}

// The exact scores of sets with a form, which a digest rounds.
std::map<std::string, std::string> FormedScores(Engine& engine) {
  std::map<std::string, std::string> scores;
  ForEachKey(engine, [&](const std::string& key, const Entry& entry) {
    const SortedSet* const set = entry.GetIf<SortedSet>();
    if (set == nullptr || !set->has_form()) return;
    scores[key + " "] = set->form().Text();
    for (auto at = set->At(0); at.valid(); at.Next()) {
      scores[key + " " + std::string(at.member())] = StoredScoreText(set->form(), at.score());
    }
  });
  return scores;
}

TEST_F(PropagationTest, EveryCommandThatWritesHasACase) {
  for (const Command& command : peer_.engine().commands().rows()) {
    if (command.run == nullptr) continue;
    const bool stores_estimate = command.name == "pfcount";
    EXPECT_EQ(requests_.Has(command.name), command.Has(kWrite) || stores_estimate) << command.name;
  }
}

// Clients choose both counts of a stream (XSETID and XGROUP SETID), and entries add to them.
TEST_F(PropagationTest, CountsOfGroupsThatHaveNoRoomAreApplied) {
  const std::string most = std::to_string(INT64_MAX);
  Run("a", {"XADD", "s", "1-1", "f", "v"});
  Run("a", {"XGROUP", "CREATE", "s", "full", "0", "ENTRIESREAD", most});
  Run("a", {"XGROUP", "CREATE", "s", "unknown", "0"});
  Run("a", {"XREADGROUP", "GROUP", "full", "c", "STREAMS", "s", ">"});
  EXPECT_NE(Ask("a", {"XINFO", "GROUPS", "s"}).find("\r\n:" + most), std::string::npos);
  Run("a", {"XSETID", "s", "9-0", "ENTRIESADDED", most});
  Run("a", {"XADD", "s", "10-1", "f", "v"});
  Run("a", {"XREADGROUP", "GROUP", "unknown", "c", "STREAMS", "s", ">"});
  EngineFollower engine;
  EXPECT_EQ(engine.Follow(journal_.TakeBytes()), "");
  engine.peer().Send("a", Multibulk({"XINFO", "GROUPS", "s"}));
  EXPECT_EQ(engine.peer().Receive("a", Millis(0)), Ask("a", {"XINFO", "GROUPS", "s"}));
}

TEST_F(PropagationTest, StringsThatOnlyGrowInBitfieldAreApplied) {
  Run("a", {"BITFIELD", "new", "OVERFLOW", "FAIL", "INCRBY", "u1", "0", "5"});
  Run("a", {"SET", "old", "x"});
  Run("a", {"BITFIELD", "old", "OVERFLOW", "FAIL", "SET", "u1", "100", "5"});
  EngineFollower engine;
  EXPECT_EQ(engine.Follow(journal_.TakeBytes()), "");
  engine.peer().Send("a", Multibulk({"STRLEN", "new"}));
  EXPECT_EQ(engine.peer().Receive("a", Millis(0)), ":1\r\n");
  engine.peer().Send("a", Multibulk({"STRLEN", "old"}));
  EXPECT_EQ(engine.peer().Receive("a", Millis(0)), ":13\r\n");
}

TEST_F(PropagationTest, FollowersReachTheSameData) {
  std::printf("PROPAGATION_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  const ServerProcess server("redis-server");
  ASSERT_TRUE(server.running());
  RedisFollower redis(server.port());
  EngineFollower engine;
  std::string for_redis;
  for (; step_ < steps_; ++step_) {
    if (step_ % 4 == 0) trace_.clear();
    Step();
    ReclaimDue();
    const std::string units = journal_.TakeBytes();
    const std::string digest = Digest();
    for_redis += units;
    ASSERT_TRUE(Compare(engine, "the engine", units, digest));
    ASSERT_EQ(Deadlines(engine.peer().engine()), Deadlines(peer_.engine())) << Show(trace_);
    ASSERT_EQ(Consumers(engine.peer().engine()), Consumers(peer_.engine())) << Show(trace_);
    ASSERT_EQ(Payloads(engine.peer().engine()), Payloads(peer_.engine())) << Show(trace_);
    ASSERT_EQ(FormedScores(engine.peer().engine()), FormedScores(peer_.engine())) << Show(trace_);
    if (step_ % 4 != 3) continue;
    ASSERT_TRUE(Compare(redis, "redis-server", std::exchange(for_redis, {}), digest));
  }
  // Rows that have not changed anything so far.
  for (const std::string& row : requests_.Names()) {
    trace_.clear();
    for (int left = 300; left > 0 && !propagated_.contains(row); --left) RunOnMuch(row);
    ReclaimDue();
    const std::string units = journal_.TakeBytes();
    const std::string digest = Digest();
    ASSERT_TRUE(Compare(engine, "the engine", units, digest));
    ASSERT_TRUE(Compare(redis, "redis-server", std::exchange(for_redis, {}) + units, digest));
  }
  EXPECT_EQ(Ask("reader", {"FUNCTION", "DUMP"}),
            (engine.peer().Send("a", "FUNCTION DUMP\r\n"), engine.peer().Receive("a", Millis(0))));
  for (const std::string& row : requests_.Names()) {
    EXPECT_TRUE(propagated_.contains(row))
        << row << " has never changed anything; its last reply is " << last_replies_[row];
  }
}

}  // namespace
}  // namespace zsetd::propagation_test
