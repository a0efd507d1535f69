// A snapshot contains the data of one instant, whatever happens to the data while it is taken.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "protocol/rdb/rdb_file.h"
#include "server/engine/support/errors.h"
#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_file.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::snapshot_test {
namespace {

std::string Ask(EnginePeer& peer, const std::vector<std::string>& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

std::string Digest(EnginePeer& peer) { return Ask(peer, {"DEBUG", "DIGEST"}); }

// The deadlines of members of sorted sets and of fields of hashes, which a digest omits.
std::map<std::string, int64_t> ElementDeadlines(Engine& engine) {
  std::map<std::string, int64_t> deadlines;
  for (const auto& database : engine.store().databases()) {
    database->keys().ForEach([&](const Entry& entry) {
      const std::string key = std::to_string(database->index()) + " " + std::string(entry.key());
      const auto add = [&](std::string_view element, std::optional<Millis> deadline) {
        if (deadline) deadlines[key + " " + std::string(element)] = deadline->count();
      };
      if (const SortedSet* set = entry.GetIf<SortedSet>(); set != nullptr) {
        for (auto at = set->At(0); at.valid(); at.Next()) add(at.member(), at.deadline());
      } else if (const Hash* hash = entry.GetIf<Hash>(); hash != nullptr) {
        hash->ForEach([&](const Field& field) { add(field.name, hash->Deadline(field.name)); });
      }
    });
  }
  return deadlines;
}

// The payloads of members of sorted sets, which a digest omits.
std::map<std::string, std::string> MemberPayloads(Engine& engine) {
  std::map<std::string, std::string> payloads;
  for (const auto& database : engine.store().databases()) {
    database->keys().ForEach([&](const Entry& entry) {
      const SortedSet* set = entry.GetIf<SortedSet>();
      const std::string key = std::to_string(database->index()) + " " + std::string(entry.key());
      if (set == nullptr) return;
      for (auto at = set->At(0); at.valid(); at.Next()) {
        if (at.payload()) payloads[key + " " + std::string(at.member())] = *at.payload();
      }
    });
  }
  return payloads;
}

// Generates requests of every kind that change keys, on few keys, so that they affect each other.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::vector<std::string> Next() {
    const std::string value = std::to_string(Below(3) == 0 ? Below(100) : random_());
    switch (Below(52)) {
      case 50:
      case 51:
        return {"ZSETDATA",
                Key(),
                std::to_string(Below(1000)),
                std::string(Below(Below(9) == 0 ? 900 : 30), 'p'),
                "m" + std::to_string(Below(1000)),
                value};
      case 0:
        return {"SET", Key(), value};
      case 1:
        return {"SET", Key(), value, "EX", std::to_string(1 + Below(20))};
      case 2:
        return {"APPEND", Key(), std::string(Below(Below(5) == 0 ? 200'000 : 100), 'x')};
      case 3:
        return {"SETRANGE", Key(), std::to_string(Below(Below(2) == 0 ? 300'000 : 90)), value};
      case 4:
        return {"INCR", Key()};
      case 5:
        return {"GETDEL", Key()};
      case 6:
        return {"SETBIT", Key(), std::to_string(Below(Below(2) == 0 ? 2'400'000 : 900)), "1"};
      case 7:
        return {"RPUSH", Key(), value, value, value};
      case 8:
        return {"LMOVE", Key(), Key(), "LEFT", "RIGHT"};
      case 9:
        return {"LTRIM", Key(), "1", "-2"};
      case 10:
        return {"SADD", Key(), value, "m" + value};
      case 11:
        return {"SPOP", Key(), "2"};
      case 12:
        return {"SMOVE", Key(), Key(), value};
      case 13:
        return {"HSET", Key(), "f" + std::to_string(Below(600)), value};
      case 14:
        return {"HDEL", Key(), "f" + std::to_string(Below(600))};
      case 15:
      case 16:
      case 17:
        return {"ZADD", Key(), value, "m" + std::to_string(Below(1000)), "1", "n"};
      case 18:
        return {"ZREM", Key(), "m" + std::to_string(Below(1000))};
      case 19:
        return {"ZPOPMIN", Key(), "3"};
      case 20:
        return {"ZUNIONSTORE", Key(), "2", Key(), Key()};
      case 21:
        return {"ZREMRANGEBYRANK", Key(), "0", std::to_string(Below(5))};
      case 22:
        return {"DEL", Key(), Key()};
      case 23:
        return {"RENAME", Key(), Key()};
      case 24:
        return {"COPY", Key(), Key(), "REPLACE"};
      case 25:
        return {"MOVE", Key(), std::to_string(Below(3))};
      case 26:
        return {"PEXPIRE", Key(), std::to_string(Below(9000))};
      case 27:
        return {"PERSIST", Key()};
      case 28:
        return {"SORT", Key(), "ALPHA", "STORE", Key()};
      case 29:
        return {"BITOP", "NOT", Key(), Key()};
      case 30:
        return {"SELECT", std::to_string(Below(3))};
      case 31:
        return Below(9) > 0 ? Next() : std::vector<std::string>{"FLUSHDB"};
      case 32:
        return Below(9) > 0 ? Next() : std::vector<std::string>{"SWAPDB", "0", "1"};
      case 33:
        return Many({"ZADD", Key()}, 1 + Below(700), /*pairs=*/true);
      case 34:
        return Many({"HSET", Key()}, 1 + Below(300), /*pairs=*/true);
      case 35:
        return Many({"SADD", Key()}, 1 + Below(300), /*pairs=*/false);
      case 36:
        return Many({"RPUSH", Key()}, 1 + Below(2000), /*pairs=*/false);
      case 37:
        return {"SET", Key(), std::string(Below(300'000), 'a') + value};
      case 38:
        return {"ZREMRANGEBYRANK", Key(), std::to_string(Below(100)), std::to_string(Below(900))};
      case 39:
        return {"SPOP", Key(), std::to_string(Below(500))};
      case 40:
        return {"LSET", Key(), std::to_string(Below(1000)), value};
      case 41:
        return {"LREM", Key(), "3", std::to_string(Below(1000))};
      case 42:
        return {"ZUNIONSTORE", Key(), "2", Key(), Key(), "WEIGHTS", "1", "2"};
      case 43:
        return {"ZPEXPIRE",
                Key(),
                std::to_string(5000 + Below(9000)),
                "MEMBERS",
                "2",
                std::to_string(Below(1000)),
                "m" + std::to_string(Below(1000))};
      case 44:
        return {"LTRIM", Key(), std::to_string(Below(30)), std::to_string(Below(900))};
      case 45:
        return {"UNLINK", Key(), Key()};
      case 46:
        return {"HPEXPIRE",
                Key(),
                std::to_string(5000 + Below(9000)),
                "FIELDS",
                "2",
                std::to_string(Below(1000)),
                "f" + std::to_string(Below(600))};
      case 47:
        return {"HPERSIST", Key(), "FIELDS", "1", std::to_string(Below(1000))};
      case 48:
        return {"BITFIELD", Key(), "SET", "u8", std::to_string(Below(2'400'000)),
                "7",        "SET", "u8",  "3",  "5"};
      default:
        return {"MSET", Key(), value, Key(), value};
    }
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

 private:
  std::string Key() { return "key:" + std::to_string(Below(Below(2) == 0 ? 8 : 150)); }

  std::vector<std::string> Many(std::vector<std::string> words, uint64_t count, bool pairs) {
    for (; count > 0; --count) {
      const std::string number = std::to_string(Below(1000));
      if (pairs) words.push_back(number);
      words.push_back(number);
    }
    return words;
  }

  std::mt19937_64 random_;
};

TEST(DatasetSnapshot, ContainsTheInstantOfItsStartDespiteLaterWrites) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Writer writer(seed);
  for (int round = 0; round < 12; ++round) {
    EnginePeer peer;
    for (uint64_t left = writer.Below(1500); left > 0; --left) Ask(peer, writer.Next());
    if (writer.Below(3) == 0) peer.Pass(Millis(2000));
    const std::string expected = Digest(peer);
    const auto deadlines = ElementDeadlines(peer.engine());
    const auto payloads = MemberPayloads(peer.engine());
    const Millis instant = peer.engine().store().now();

    const LargeValueLimits small = {.elements = 1 + writer.Below(200), .bytes = 300};
    SnapshotEncoder encoder(peer.engine().settings(), peer.engine().store().access_tracker(),
                            writer.Below(2) == 0 ? small : LargeValueLimits());
    {
      DatasetSnapshot snapshot(peer.engine().store().databases(), encoder);
      encoder.Begin(instant, 0, {}, snapshot);
      while (!snapshot.Continue([] { return true; })) {
        for (uint64_t left = writer.Below(writer.Below(2) == 0 ? 40 : 3); left > 0; --left)
          Ask(peer, writer.Next());
        if (writer.Below(30) == 0) peer.Pass(Millis(300));
      }
      encoder.End();
    }
    EnginePeer other;
    SnapshotFile file(other.files(), {.directory = "/data", .name = "dump.rdb", .draft_name = "t"});
    ASSERT_TRUE(WritePieces(encoder.Take(), file).ok());
    ASSERT_TRUE(file.Finish().ok());
    other.engine().executor().AdvanceTo(instant);
    const absl::Status loaded = other.persistence().Start();
    ASSERT_TRUE(loaded.ok()) << loaded;
    ASSERT_EQ(Digest(other), expected) << "round " << round;
    ASSERT_EQ(ElementDeadlines(other.engine()), deadlines) << "round " << round;
    ASSERT_EQ(MemberPayloads(other.engine()), payloads) << "round " << round;
    ASSERT_NE(Ask(peer, {"DBSIZE"}), "");  // the server continues
  }
}

// Ends the snapshot, loads its file in another server and returns the string.
std::string LoadedString(SnapshotEncoder& encoder, const std::string& key) {
  encoder.End();
  EnginePeer other;
  SnapshotFile file(other.files(), {.directory = "/data", .name = "dump.rdb", .draft_name = "t"});
  EXPECT_TRUE(WritePieces(encoder.Take(), file).ok());
  EXPECT_TRUE(file.Finish().ok());
  const absl::Status loaded = other.persistence().Start();
  EXPECT_TRUE(loaded.ok()) << loaded;
  return Ask(other, {"GET", key});
}

// While parts of the string are copied, it grows, which moves its bytes, and is renamed.
TEST(DatasetSnapshot, AStringEditedInPlaceHasItsOldContents) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Writer writer(seed);
  constexpr uint64_t kBytes = 3'000'000;
  for (int round = 0; round < 4; ++round) {
    EnginePeer peer;
    std::string text(kBytes + writer.Below(100'000), 'a');
    for (size_t i = 0; i < text.size(); i += 100) text[i] = static_cast<char>(writer.Below(256));
    Ask(peer, {"SET", "k", text});
    const std::string expected = Ask(peer, {"GET", "k"});
    SnapshotEncoder encoder(peer.engine().settings(), peer.engine().store().access_tracker());
    DatasetSnapshot snapshot(peer.engine().store().databases(), encoder);
    encoder.Begin(Millis(0), 0, {}, snapshot);
    std::string key = "k";
    while (!snapshot.Continue([] { return true; })) {
      for (uint64_t left = writer.Below(4); left > 0; --left) {
        const std::string offset = std::to_string(writer.Below(kBytes));
        const std::string bit = std::to_string(writer.Below(8 * kBytes));
        switch (writer.Below(6)) {
          case 0:
            Ask(peer, {"SETRANGE", key, offset, std::string(writer.Below(50'000), 'b')});
            break;
          case 1:
            Ask(peer, {"APPEND", key, std::string(writer.Below(400'000), 'c')});
            break;
          case 2:
            Ask(peer, {"BITFIELD", key, "SET", "u63", bit, "7", "INCRBY", "u8", "#77", "5"});
            break;
          case 3:
            Ask(peer, {"RENAME", key, key + "k"});
            key += "k";
            break;
          default:
            Ask(peer, {"SETBIT", key, bit, "1"});
        }
      }
    }
    ASSERT_NE(Ask(peer, {"GET", key}), expected);
    ASSERT_EQ(LoadedString(encoder, "k"), expected) << "round " << round;
  }
}

// Copies only the changed pieces at that time. The others follow in their turn.
TEST(DatasetSnapshot, AChangeInPlaceCopiesLittleOfALargeString) {
  EnginePeer peer;
  Ask(peer, {"SETRANGE", "k", "50000000", "end"});
  SnapshotEncoder encoder(peer.engine().settings(), peer.engine().store().access_tracker());
  DatasetSnapshot snapshot(peer.engine().store().databases(), encoder);
  encoder.Begin(Millis(0), 0, {}, snapshot);
  EXPECT_FALSE(snapshot.Continue([] { return true; }));
  Ask(peer, {"SETBIT", "k", "300000000", "1"});
  int steps = 1;
  while (!snapshot.Continue([] { return true; })) ++steps;
  EXPECT_GT(steps, 100);
}

TEST(DatasetSnapshot, WritesEachKeyOnce) {
  EnginePeer peer;
  for (int i = 0; i < 3000; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  SnapshotEncoder encoder(peer.engine().settings(), peer.engine().store().access_tracker());
  DatasetSnapshot snapshot(peer.engine().store().databases(), encoder);
  encoder.Begin(Millis(0), 0, {}, snapshot);
  Writer writer(1);
  while (!snapshot.Continue([] { return true; })) {
    const std::string key = "k" + std::to_string(writer.Below(3000));
    Ask(peer, {"DEL", key});
    Ask(peer, {"SET", key, "again"});
    Ask(peer, {"SET", "new" + key, "v"});
  }
  EXPECT_EQ(encoder.keys(), 3000u);
}

const char* const kPath = "/data/dump.rdb";

TEST(SnapshotService, EveryCrashLeavesTheOldDataOrTheNew) {
  EnginePeer peer;
  Ask(peer, {"SET", "old", "1"});
  const std::string old_digest = Digest(peer);
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  const size_t saved_once = peer.files().operations().size();
  for (int i = 0; i < 400; ++i)
    Ask(peer, {"ZADD", "z", std::to_string(i), "m" + std::to_string(i)});
  const std::string new_digest = Digest(peer);
  ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
  const size_t all = peer.files().operations().size();
  size_t states = 0;
  for (size_t count = saved_once; count <= all; ++count) {
    for (const MemoryFiles::Contents& disk : peer.files().CrashStates(count)) {
      EnginePeer restarted;
      for (const auto& [path, bytes] : disk) restarted.files().set_contents(path, bytes);
      const absl::Status status = restarted.persistence().Start();
      ASSERT_TRUE(status.ok()) << count << " operations: " << status;
      const std::string digest = Digest(restarted);
      const bool is_whole = digest == new_digest || (digest == old_digest && count < all);
      ASSERT_TRUE(is_whole) << "after " << count << " of " << all << " operations";
      ++states;
    }
  }
  EXPECT_GT(states, 15u);
}

TEST(SnapshotService, AFailureOfAnyOperationLeavesTheOldSnapshotAndNoDraft) {
  using Kind = MemoryFiles::Operation::Kind;
  for (const Kind kind : {Kind::kCreate, Kind::kWrite, Kind::kSync, Kind::kRename}) {
    EnginePeer peer;
    Ask(peer, {"SET", "old", "1"});
    ASSERT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
    const MemoryFiles::Contents before = peer.files().contents();
    Ask(peer, {"SET", "new", "1"});
    peer.files().set_failure([kind](const MemoryFiles::Operation& operation) {
      return operation.kind == kind ? absl::InternalError("No space left on device")
                                    : absl::OkStatus();
    });
    EXPECT_EQ(Ask(peer, {"SAVE"}), "-ERR\r\n");
    EXPECT_EQ(peer.files().contents(), before);
    EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    peer.Pass(Millis(100));
    EXPECT_EQ(peer.files().contents(), before);
    EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_last_bgsave_status:err"),
              std::string::npos);
    peer.files().set_failure(nullptr);
    EXPECT_EQ(Ask(peer, {"SAVE"}), "+OK\r\n");
    EXPECT_NE(peer.files().contents(), before);
  }
}

TEST(SnapshotService, WritesAreRefusedWhileSnapshotsFail) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == MemoryFiles::Operation::Kind::kSync ? absl::InternalError("I/O error")
                                                                 : absl::OkStatus();
  });
  Ask(peer, {"BGSAVE"});
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}).substr(0, 9), "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"PING"}).substr(0, 9), "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"GET", "k"}), "$-1\r\n");
  Ask(peer, {"MULTI"});
  EXPECT_EQ(Ask(peer, {"GET", "k"}), "+QUEUED\r\n");
  EXPECT_EQ(Ask(peer, {"EXEC"}), "*1\r\n$-1\r\n");
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "yes"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}).substr(0, 9), "-MISCONF ");
  peer.files().set_failure(nullptr);
  peer.Pass(Millis(6000));  // it is not retried more often after a failure
  EXPECT_EQ(Ask(peer, {"BGSAVE"}).substr(0, 1), "+");
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"SET", "k", "v"}), "+OK\r\n");
}

TEST(SnapshotService, SavesWhenASavePointIsReached) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 3"});
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SET", "b", "1"});
  peer.Pass(Millis(101'000));
  EXPECT_TRUE(peer.files().contents().empty());
  Ask(peer, {"SET", "c", "1"});
  peer.Pass(Millis(100));
  EXPECT_TRUE(peer.files().contents().contains(kPath));
  EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_changes_since_last_save:0"),
            std::string::npos);
}

// `follows` runs in the round of a FLUSHALL, before the reply to it is sent.
void ExpectFlushIsOnDisk(const std::function<void(EnginePeer&)>& follows) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 3"});
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SAVE"});
  Ask(peer, {"FLUSHALL"});
  follows(peer);
  EnginePeer restarted;
  restarted.files().set_contents(kPath, peer.files().contents().at(kPath));
  ASSERT_TRUE(restarted.persistence().Start().ok());
  EXPECT_EQ(Ask(restarted, {"DBSIZE"}), ":0\r\n");
}

TEST(SnapshotService, FlushAllIsOnDiskBeforeItsReplyIfThereAreSavePoints) {
  ExpectFlushIsOnDisk([](EnginePeer& peer) { peer.persistence().EndRound(); });
}

TEST(SnapshotService, FlushAllIsOnDiskWhateverElseItsRoundRuns) {
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/true).ok());
  });
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}), "+OK\r\n");
    EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":0\r\n");
  });
  ExpectFlushIsOnDisk([](EnginePeer& peer) {
    EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
    peer.persistence().EndRound();
  });
}

TEST(SnapshotService, ADirectoryBelongsToOneServer) {
  EnginePeer peer;
  const auto other = peer.files().Lock("/data");
  ASSERT_TRUE(other.ok() && *other != nullptr);
  EXPECT_EQ(Ask(peer, {"SAVE"}), "-ERR\r\n");
  EXPECT_TRUE(peer.files().contents().empty());
}

TEST(SnapshotService, ReloadReplacesABackgroundSnapshot) {
  EnginePeer peer;
  for (int i = 0; i < 500; ++i) Ask(peer, {"SET", "k" + std::to_string(i), "v"});
  EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
  Ask(peer, {"SET", "k1", "later"});
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD"}), "+OK\r\n");
  EXPECT_FALSE(peer.persistence().IsSaving());
  EXPECT_EQ(peer.files().contents().size(), 1u);  // no draft
  EXPECT_EQ(Ask(peer, {"GET", "k1"}), "$5\r\nlater\r\n");
  EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":500\r\n");
}

const char* const kLibrary =
    "#!lua name=lib\n"
    "redis.register_function('f', function(keys) return redis.call('incr', keys[1]) end)";

TEST(SnapshotService, KeepsLibrariesOfFunctions) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "100 1"});
  EXPECT_EQ(Ask(peer, {"FUNCTION", "LOAD", kLibrary}), "$3\r\nlib\r\n");
  EXPECT_NE(Ask(peer, {"INFO", "persistence"}).find("rdb_changes_since_last_save:1\r\n"),
            std::string::npos);
  EXPECT_EQ(Ask(peer, {"FCALL", "f", "1", "k"}), ":1\r\n");
  EXPECT_EQ(Ask(peer, {"BGSAVE"}), "+Background saving started\r\n");
  EXPECT_EQ(Ask(peer, {"FUNCTION", "FLUSH"}), "+OK\r\n");  // after the instant of the snapshot
  peer.Pass(Millis(100));
  const std::string file = peer.files().contents().at(kPath);

  EnginePeer restarted;
  restarted.files().set_contents(kPath, file);
  ASSERT_TRUE(restarted.persistence().Start().ok());
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":2\r\n");
  EXPECT_EQ(Ask(restarted, {"DEBUG", "RELOAD"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":3\r\n");
  EXPECT_EQ(Ask(restarted, {"SAVE"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FUNCTION", "FLUSH"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"DEBUG", "RELOAD", "NOSAVE"}), "+OK\r\n");
  EXPECT_EQ(Ask(restarted, {"FCALL", "f", "1", "k"}), ":4\r\n");

  Settings settings;
  settings.scripting = false;
  settings.dir = "/data";
  settings.save.points.clear();
  EnginePeer without(settings);
  without.files().set_contents(kPath, file);
  ASSERT_TRUE(without.persistence().Start().ok());
  EXPECT_EQ(Ask(without, {"SAVE"}), "+OK\r\n");
  EnginePeer again;
  again.files().set_contents(kPath, without.files().contents().at(kPath));
  ASSERT_TRUE(again.persistence().Start().ok());
  EXPECT_EQ(Ask(again, {"FCALL", "f", "1", "k"}), ":2\r\n");
}

TEST(SnapshotService, ALibraryThatCannotBeRestoredRefusesTheWholeFile) {
  std::string bytes;
  RdbFileWriter writer(bytes, /*compresses=*/false);
  writer.Magic();
  writer.Functions("#!lua name=broken\nthis is no Lua");
  writer.Database(0);
  writer.Key(RdbType::kString, "k").String("v");
  writer.End();
  bytes += std::string(8, '\0');  // an absent checksum
  EnginePeer peer;
  Ask(peer, {"SET", "old", "1"});
  Ask(peer, {"FUNCTION", "LOAD", kLibrary});
  peer.files().set_contents(kPath, bytes);
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}),
            "-ERR Error trying to load the RDB dump, check server logs\r\n");
  EXPECT_EQ(Ask(peer, {"GET", "old"}), "$1\r\n1\r\n");
  EXPECT_EQ(Ask(peer, {"FCALL", "f", "1", "n"}), ":1\r\n");
  const absl::Status status = peer.persistence().Start();
  EXPECT_NE(status.message().find("cannot load its libraries of functions: "), std::string::npos)
      << status;
}

TEST(SnapshotService, ScriptsMayNotWriteWhileSnapshotsFail) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  peer.files().set_failure([](const MemoryFiles::Operation& operation) {
    return operation.kind == MemoryFiles::Operation::Kind::kSync ? absl::InternalError("I/O error")
                                                                 : absl::OkStatus();
  });
  Ask(peer, {"BGSAVE"});
  peer.Pass(Millis(100));
  EXPECT_EQ(Ask(peer, {"EVAL", "return redis.call('set', 'k', 'v')", "0"}).substr(0, 9),
            "-MISCONF ");
  EXPECT_EQ(Ask(peer, {"EVAL", "return redis.call('get', 'k')", "0"}), "$-1\r\n");
  EXPECT_EQ(Ask(peer, {"EVAL", "#!lua\nreturn 1", "0"}),
            "-" + std::string(kSnapshotsFail) + "\r\n");
  EXPECT_EQ(Ask(peer, {"EVAL", "#!lua flags=no-writes\nreturn 1", "0"}), ":1\r\n");
  Ask(peer, {"MULTI"});
  Ask(peer, {"EVALSHA", "121982a2098f0a549345ef911e130b9242ec5d83", "0"});
  peer.Send("b", Multibulk({"SCRIPT", "LOAD", "#!lua\nreturn 9"}));
  EXPECT_EQ(
      Ask(peer, {"EXEC"}),
      "*1\r\n-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
      "persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only "
      "scripts.\r\n")
      << "the script was not known when the request was queued";
}

TEST(SnapshotService, NothingIsSavedAtTheEndUnlessTheShutdownSaved) {
  EnginePeer peer;
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  Ask(peer, {"SET", "k", "v"});
  peer.files().set_failure(
      [](const MemoryFiles::Operation&) { return absl::InternalError("I/O error"); });
  EXPECT_EQ(Ask(peer, {"SHUTDOWN"}), "-ERR Errors trying to SHUTDOWN. Check logs.\r\n");
  peer.files().set_failure(nullptr);
  peer.persistence().SaveTheRest();  // after a refusal the server may end without a save
  EXPECT_TRUE(peer.files().contents().empty());
}

// The stream to replicas. It only advances the offset.
class CountedStream : public Journal {
 public:
  explicit CountedStream(ReplicationState& state) : state_(state) {}
  uint64_t Append(OutputBuffer& unit) override {
    state_.Advance(unit.size());
    return static_cast<uint64_t>(state_.offset());
  }

 private:
  ReplicationState& state_;
};

TEST(SnapshotService, ExpiryAfterTheFinalSaveKeepsItsPositionInTheHistory) {
  EnginePeer peer;
  CountedStream stream(peer.engine().replication());
  peer.engine().effects().set_stream(&stream);
  Ask(peer, {"CONFIG", "SET", "save", "3600 1"});
  Ask(peer, {"SET", "k", "v", "PX", "100"});
  ASSERT_TRUE(peer.persistence().SaveBeforeExit(/*must_save=*/false, /*may_not=*/false).ok());
  const int64_t saved_offset = peer.engine().replication().offset();
  peer.Pass(Millis(200));
  ASSERT_GT(peer.engine().replication().offset(), saved_offset) << "replicas have no DEL";
  peer.persistence().SaveTheRest();
  EnginePeer restarted;
  restarted.files().set_contents(kPath, peer.files().contents().at(kPath));
  ASSERT_TRUE(restarted.persistence().Start().ok());
  ASSERT_TRUE(restarted.persistence().loaded_position().has_value());
  EXPECT_EQ(restarted.persistence().loaded_position()->offset,
            peer.engine().replication().offset());
  peer.engine().effects().set_stream(nullptr);
}

TEST(SnapshotService, ReloadKeepsTheDataIfTheFileIsDamaged) {
  EnginePeer peer;
  Ask(peer, {"SET", "a", "1"});
  Ask(peer, {"SAVE"});
  std::string bytes = peer.files().contents().at(kPath);
  bytes[bytes.size() / 2] ^= 1;
  peer.files().set_contents(kPath, bytes);
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOSAVE"}),
            "-ERR Error trying to load the RDB dump, check server logs\r\n");
  EXPECT_EQ(Ask(peer, {"GET", "a"}), "$1\r\n1\r\n");
  Ask(peer, {"SET", "b", "1"});
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOFLUSH"}).substr(0, 4), "-ERR");  // the key is in both
  EXPECT_EQ(Ask(peer, {"DEBUG", "RELOAD", "NOFLUSH", "MERGE"}), "+OK\r\n");
  EXPECT_EQ(Ask(peer, {"DBSIZE"}), ":2\r\n");
}

}  // namespace
}  // namespace zsetd::snapshot_test
