// A replica applies its master's stream correctly, however the bytes are split.
#include "server/replication/master_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/util/rng.h"
#include "server/engine/propagation/journal.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::master_stream_test {
namespace {

using Words = std::vector<std::string>;

Settings WithDebug() {
  Settings settings;
  settings.enable_debug_command = DangerousAccess::kYes;
  settings.save.points.clear();
  return settings;
}

std::string Ask(EnginePeer& peer, const Words& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

std::string Digest(EnginePeer& peer) { return Ask(peer, {"DEBUG", "DIGEST"}); }

// Records the bytes that a master propagates.
struct Recorder : Journal {
  uint64_t Append(OutputBuffer& unit) override {
    bytes += unit.view();
    return bytes.size();
  }
  std::string bytes;
};

class Replica {
 public:
  absl::Status Receive(std::string_view bytes) { return stream.Receive(bytes); }

  // The bytes passed on must equal the applied bytes.
  void Record(const MasterStream::Applied& applied) {
    EXPECT_TRUE(peer.engine().effects().is_muted());
    (applied.changes_data ? data : link) += applied.bytes;
    if (applied.changes_data) logged += applied.log_bytes;
    all += applied.bytes;
    EXPECT_EQ(applied.database_before, database);
    database = applied.database_after;
  }

  EnginePeer peer{WithDebug()};
  std::string data;
  std::string logged;
  std::string link;
  std::string all;
  int database = 0;
  MasterStream stream{peer.engine(), [this](const auto& applied) { Record(applied); }};
};

const std::string kPing = Multibulk({"PING"});
const std::string kGetAck = Multibulk({"REPLCONF", "GETACK", "*"});

// Returns a master's stream of random changes, mixed with requests that concern the link.
std::string RandomStream(EnginePeer& master, uint64_t seed) {
  Recorder journal;
  master.engine().effects().set_log(&journal);
  Rng rng(seed);
  const auto number = [&](size_t bound) { return std::to_string(rng.Below(bound)); };
  const std::vector<std::function<Words()>> requests = {
      [&] {
        return Words{"ZADD", "z" + number(3), number(100), number(20)};
      },
      [&] {
        return Words{"SET", "s" + number(3), std::string(rng.Below(3000), 'x')};
      },
      [&] {
        return Words{"SPOP", "t" + number(3), "2"};
      },
      [&] {
        return Words{"SADD", "t" + number(3), number(50), number(50)};
      },
      [&] {
        return Words{"SELECT", number(4)};
      },
      [&] {
        return Words{"PEXPIRE", "s" + number(3), number(500)};
      },
      [&] { return Words{"MULTI"}; },
      [&] { return Words{"EXEC"}; },
      [&] {
        return Words{"EVAL", "redis.call('incr','n') return redis.call('incr','m')", "0"};
      },
  };
  for (int i = 0; i < 300; ++i) {
    Ask(master, requests[rng.Below(requests.size())]());
    if (rng.Below(10) == 0) journal.bytes += kPing;
    if (rng.Below(10) == 0) journal.bytes += kGetAck;
    if (rng.Below(20) == 0) master.Pass(Millis(100));
  }
  Ask(master, {"DISCARD"});
  master.engine().effects().set_log(nullptr);
  return journal.bytes;
}

TEST(MasterStream, MakesTheSameDataHoweverItIsSplit) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    EnginePeer master(WithDebug());
    const std::string bytes = RandomStream(master, seed);
    Replica replica;
    replica.stream.Begin(1000, 0);
    Rng rng(seed);
    for (size_t at = 0; at < bytes.size();) {
      const size_t most = rng.Below(5) == 0 ? 50'000 : 200;
      const std::string_view part = std::string_view(bytes).substr(at, 1 + rng.Below(most));
      ASSERT_TRUE(replica.Receive(part).ok());
      at += part.size();
      EXPECT_EQ(replica.stream.offset(), static_cast<int64_t>(1000 + replica.all.size()));
    }
    EXPECT_EQ(replica.all, bytes);
    EXPECT_EQ(replica.logged, replica.data);
    replica.peer.Pass(master.engine().store().now() - replica.peer.engine().store().now());
    EXPECT_EQ(Digest(replica.peer), Digest(master));
  }
}

TEST(MasterStream, AppliesWholeUnitsOnly) {
  const std::string before = Multibulk({"SET", "a", "1"});
  const std::string unit = Multibulk({"MULTI"}) + Multibulk({"SET", "a", "2"}) +
                           Multibulk({"SET", "b", "2"}) + Multibulk({"EXEC"});
  for (size_t count = 0; count < unit.size(); ++count) {
    Replica replica;
    ASSERT_TRUE(replica.Receive(before + unit.substr(0, count)).ok());
    EXPECT_EQ(replica.stream.offset(), static_cast<int64_t>(before.size()));
    EXPECT_EQ(replica.all, before);
    EXPECT_EQ(Ask(replica.peer, {"GET", "a"}), "$1\r\n1\r\n");
    replica.stream.Begin(static_cast<int64_t>(before.size()), 0);  // the link has broken
    ASSERT_TRUE(replica.Receive(unit).ok());
    EXPECT_EQ(Ask(replica.peer, {"GET", "b"}), "$1\r\n2\r\n");
    EXPECT_EQ(replica.all, before + unit);
  }
}

TEST(MasterStream, SeparatesRequestsAboutTheLink) {
  Replica replica;
  const std::string set = Multibulk({"SET", "a", "1"});
  ASSERT_TRUE(replica.Receive(kPing + set + set + kGetAck + set + kPing).ok());
  EXPECT_EQ(replica.data, set + set + set);
  EXPECT_EQ(replica.link, kPing + kGetAck + kPing);
  EXPECT_TRUE(replica.stream.TakeAckRequest());
  EXPECT_FALSE(replica.stream.TakeAckRequest());
}

// A log with other bytes could not be loaded.
TEST(MasterStream, LogsOnlyRequestsThatChangeData) {
  const std::string multi = Multibulk({"MULTI"});
  const std::string exec = Multibulk({"EXEC"});
  const std::string set = Multibulk({"SET", "a", "b"});
  const std::string more = Multibulk({"SET", "c", "d"});
  struct Case {
    std::string stream;
    std::string log;
  };
  for (const auto& [stream, log] : std::vector<Case>{
           {"SET a b\r\n" + more, set + more},
           {set + "\r\n" + more, set + more},
           {set + "\n" + more, set + more},
           {set + "*0\r\n" + more, set + more},
           {"SET" + std::string(19, ' ') + "a b\r\n" + more, set + more},  // as long as in RESP
           {"MULTI\r\n" + set + more + exec, multi + set + more + exec},
           {multi + set + kGetAck + more + exec, multi + set + more + exec},
           {multi + set + kPing + exec + more, multi + set + exec + more},
           {set + kPing + "\r\n" + kPing + more, set + more},
       }) {
    for (const size_t part : {size_t{1}, size_t{7}, stream.size()}) {
      SCOPED_TRACE(stream + " in parts of " + std::to_string(part));
      Replica replica;
      for (size_t at = 0; at < stream.size(); at += part) {
        ASSERT_TRUE(replica.Receive(std::string_view(stream).substr(at, part)).ok());
      }
      EXPECT_EQ(replica.all, stream);
      EXPECT_EQ(replica.logged, log);
      EXPECT_EQ(Ask(replica.peer, {"GET", "a"}), "$1\r\nb\r\n");
    }
  }
}

TEST(MasterStream, AppliesStringsLongerThanTheOwnLimit) {
  Replica replica;
  Ask(replica.peer, {"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  const std::string part(1 << 20, 'x');
  ASSERT_TRUE(
      replica.Receive(Multibulk({"SET", "a", part}) + Multibulk({"APPEND", "a", part})).ok());
  EXPECT_EQ(Ask(replica.peer, {"STRLEN", "a"}), ":2097152\r\n");
  EXPECT_TRUE(Ask(replica.peer, {"APPEND", "a", "x"}).starts_with("-ERR string exceeds"));
}

TEST(MasterStream, ContinuesInItsDatabase) {
  Replica replica;
  replica.stream.Begin(0, 7);
  replica.database = 7;
  ASSERT_TRUE(replica.Receive(Multibulk({"SET", "a", "1"})).ok());
  EXPECT_EQ(Ask(replica.peer, {"EXISTS", "a"}), ":0\r\n");
  Ask(replica.peer, {"SELECT", "7"});
  EXPECT_EQ(Ask(replica.peer, {"EXISTS", "a"}), ":1\r\n");
  ASSERT_TRUE(replica.Receive(Multibulk({"SELECT", "3"})).ok());
  EXPECT_EQ(replica.stream.database(), 3);
}

// After such a command the replica's data would differ from the master's.
TEST(MasterStream, RefusesCommandsThatItCannotApply) {
  const std::string set = Multibulk({"SET", "a", "1"});
  for (const std::string& bytes :
       {Multibulk({"VADD", "s", "*", "a", "b"}), Multibulk({"LPUSH", "a", "x"}),
        Multibulk({"SELECT", "99"}), Multibulk({"EXEC"}), std::string("*x\r\n"),
        Multibulk({"MULTI"}) + Multibulk({"LPUSH", "a", "x"}) + Multibulk({"EXEC"})}) {
    Replica replica;
    EXPECT_FALSE(replica.Receive(set + bytes + set).ok()) << bytes;
    EXPECT_EQ(replica.all, set) << bytes;
    EXPECT_EQ(replica.stream.offset(), static_cast<int64_t>(set.size())) << bytes;
  }
}

// The setting treats unknown commands like unknown keys of snapshots.
TEST(MasterStream, SkipsUnknownCommandsIfTheSettingAllowsIt) {
  const std::string add = Multibulk({"VADD", "s", "*", "a", "b"});
  const std::string group = Multibulk({"VSETATTR", "s", "g", "$"});
  const std::string set = Multibulk({"SET", "a", "1"});
  Replica replica;
  Ask(replica.peer, {"CONFIG", "SET", "rdb-skip-unknown", "yes"});
  ASSERT_TRUE(replica.Receive(add + set + group).ok());
  ASSERT_TRUE(replica.Receive(Multibulk({"MULTI"}) + add + set + Multibulk({"EXEC"})).ok());
  EXPECT_EQ(replica.stream.skipped(), 3);
  EXPECT_EQ(Ask(replica.peer, {"GET", "a"}), "$1\r\n1\r\n");
  ASSERT_TRUE(replica.Receive(Multibulk({"VADD", "s", "a"})).ok());
  ASSERT_TRUE(replica.Receive(Multibulk({"JSON.SET", "s", "$", "1"})).ok());
  EXPECT_EQ(replica.stream.skipped(), 5);
  EXPECT_EQ(replica.stream.first_skipped(), "VADD");
  EXPECT_FALSE(replica.Receive(Multibulk({"LPUSH", "a", "b"})).ok());  // a known command that fails
  Replica strict;
  const absl::Status refused = strict.Receive(add);
  EXPECT_NE(refused.message().find("rdb-skip-unknown"), std::string_view::npos) << refused;
}

// If a skipped value replaces the value of a key, the key does not keep its old value.
TEST(MasterStream, RemovesKeysThatASkippedValueReplaces) {
  const std::string restore =
      Multibulk({"RESTORE", "a", "0", std::string("\x07") + "module", "REPLACE"});
  for (const std::string& change :
       {restore, Multibulk({"RENAME", "module", "a"}),
        Multibulk({"MULTI"}) + Multibulk({"RENAME", "module", "a"}) + Multibulk({"EXEC"})}) {
    Replica replica;
    Ask(replica.peer, {"CONFIG", "SET", "rdb-skip-unknown", "yes"});
    ASSERT_TRUE(replica.Receive(Multibulk({"SET", "a", "1"}) + change).ok());
    EXPECT_EQ(Ask(replica.peer, {"EXISTS", "a"}), ":0\r\n");
    Ask(replica.peer, {"CONFIG", "SET", "rdb-skip-unknown", "no"});
    EXPECT_FALSE(replica.Receive(change).ok());
  }
}

TEST(MasterStream, CountsCommandsLikeThoseOfClients) {
  Replica replica;
  const std::string before = Ask(replica.peer, {"INFO", "stats"});
  ASSERT_TRUE(replica
                  .Receive(Multibulk({"PING"}) + Multibulk({"MULTI"}) +
                           Multibulk({"SET", "a", "1"}) + Multibulk({"INCR", "a"}) +
                           Multibulk({"EXEC"}) + Multibulk({"REPLCONF", "GETACK", "*"}))
                  .ok());
  EXPECT_FALSE(replica.Receive(Multibulk({"LPUSH", "a", "x"})).ok());
  const std::string stats = Ask(replica.peer, {"INFO", "commandstats"});
  for (const std::string name : {"ping", "multi", "set", "incr", "exec", "replconf", "lpush"}) {
    EXPECT_NE(stats.find("cmdstat_" + name + ":calls=1,"), std::string::npos) << name << stats;
  }
  EXPECT_NE(stats.find("failed_calls=1"), std::string::npos) << stats;
  const auto processed = [](const std::string& info) {
    const std::string_view name = "total_commands_processed:";
    return std::stoi(info.substr(info.find(name) + name.size()));
  };
  EXPECT_EQ(processed(Ask(replica.peer, {"INFO", "stats"})), processed(before) + 9);
}

TEST(MasterStream, PublishesToSubscribersHere) {
  Replica replica;
  Ask(replica.peer, {"SUBSCRIBE", "news"});
  ASSERT_TRUE(replica.Receive(Multibulk({"PUBLISH", "news", "hello"})).ok());
  EXPECT_EQ(replica.peer.Receive("a", Millis(0)),
            "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
}

// The stream adds the key that a client waits for. The client is served if it may write here.
TEST(MasterStream, ServesBlockedClients) {
  Replica replica;
  replica.peer.Send("a", Multibulk({"BZPOPMIN", "z", "0"}));
  ASSERT_TRUE(replica.Receive(Multibulk({"ZADD", "z", "1", "x"})).ok());
  EXPECT_EQ(replica.peer.Receive("a", Millis(0)), "*3\r\n$1\r\nz\r\n$1\r\nx\r\n$1\r\n1\r\n");
}

}  // namespace
}  // namespace zsetd::master_stream_test
