// A snapshot contains the data of one instant, whatever happens to the data while it is taken.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_file.h"
#include "tests/support/steps.h"
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
  for (int round = 0; round < Steps(12); ++round) {
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

}  // namespace
}  // namespace zsetd::snapshot_test
