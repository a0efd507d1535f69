// A snapshot of large streams contains their entries and groups at one instant, whatever happens to
// the streams while it is taken.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/persistence/snapshot/snapshot_encoder.h"
#include "server/persistence/snapshot/snapshot_file.h"
#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript.h"

namespace zsetd::stream_snapshot_test {
namespace {

using Words = std::vector<std::string>;

std::string Ask(EnginePeer& peer, const Words& words) {
  peer.Send("a", Multibulk(words));
  return peer.Receive("a", Millis(0));
}

// Generates requests that change a few large streams and their groups. Most IDs are those of
// entries, because entry n has the ID n-0.
class StreamWriter {
 public:
  explicit StreamWriter(uint64_t seed) : random_(seed) {}

  Words Add() { return Entry({"XADD", Key()}); }

  Words Next() {
    switch (Below(24)) {
      case 0:
        return Entry({"XADD", Key(), "MAXLEN", Trims(), std::to_string(1000 + Below(1000))});
      case 1:
        return Entry({"XADD", Key(), "MINID", Trims(), Id()});
      case 2:
      case 3:
      case 4:
        return With({"XDEL", Key()}, 1 + Below(8));
      case 5:
        return {"XTRIM", Key(), "MAXLEN", Trims(), std::to_string(1500 + Below(1500))};
      case 6:
        return {"XTRIM", Key(), "MINID", Trims(), std::to_string(Below(last_ / 2 + 1))};
      case 7:
        return {"XSETID", Key(), std::to_string(last_ + 1)};
      case 8:
        return {"XGROUP", "CREATE", Key(), Group(), Below(2) == 0 ? "0" : "$"};
      case 9:
        return Below(4) > 0 ? Next() : Words{"XGROUP", "DESTROY", Key(), Group()};
      case 10:
        return {"XGROUP", "SETID", Key(), Group(), Id()};
      case 11:
        return {"XGROUP", Below(3) == 0 ? "DELCONSUMER" : "CREATECONSUMER", Key(), Group(),
                Reader()};
      case 12:
      case 13:
      case 14:
        return {"XREADGROUP", "GROUP", Group(), Reader(), "COUNT", std::to_string(Below(200)),
                "STREAMS",    Key(),   ">"};
      case 15:
      case 16:
        return With({"XACK", Key(), Group()}, 1 + Below(50));
      case 17:
        return With({"XCLAIM", Key(), Group(), Reader(), "0"}, 1 + Below(9));
      case 18:
        return {"XAUTOCLAIM", Key(), Group(), Reader(), "0", "-", "COUNT", "40"};
      case 19:
        return Below(8) > 0 ? Next() : Words{Below(2) == 0 ? "UNLINK" : "DEL", Key()};
      case 20:
        return Below(3) > 0 ? Next() : Words{"RENAME", Key(), Key()};
      case 21:
        return Below(3) > 0 ? Next() : Words{"COPY", Key(), Key(), "REPLACE"};
      case 22:
        return Below(40) > 0 ? Next() : Words{"FLUSHALL", "ASYNC"};
      default:
        return Add();
    }
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

 private:
  std::string Key() { return "s" + std::to_string(Below(3)); }
  std::string Group() { return "g" + std::to_string(Below(2)); }
  std::string Reader() { return "r" + std::to_string(Below(4)); }
  std::string Trims() { return Below(2) == 0 ? "=" : "~"; }
  std::string Id() { return std::to_string(1 + Below(last_ + 1)); }

  Words Entry(Words words) {
    words.push_back(std::to_string(++last_));
    const uint64_t first = Below(9) == 0 ? 1 + Below(20) : 0;  // the number of the first name
    for (uint64_t left = 1 + Below(3); left > 0; --left) {
      words.push_back("name" + std::to_string(first + left));
      words.push_back(Below(2) == 0 ? std::to_string(Below(100'000))
                                    : std::string(Below(Below(20) == 0 ? 900 : 40), 'v'));
    }
    return words;
  }

  Words With(Words words, uint64_t ids) {
    const uint64_t first = Below(last_ + 1);
    for (uint64_t i = 0; i < ids; ++i) words.push_back(std::to_string(first + i));
    return words;
  }

  std::mt19937_64 random_;
  uint64_t last_ = 0;  // the highest ID
};

// Removes the times at which consumers were active, which snapshots do not have.
std::string WithoutActivity(std::string full) {
  const std::string_view name = "$11\r\nactive-time\r\n";
  for (size_t at = 0; (at = full.find(name, at)) != std::string::npos;) {
    full.erase(at, full.find("\r\n", at + name.size()) + 2 - at);
  }
  return full;
}

// The entries, groups, consumers and pending entries of each stream. The numbers of blocks differ
// after a load, because deleted entries are not saved.
std::map<std::string, std::string> Contents(EnginePeer& peer) {
  static const std::regex blocks("\\$\\d+\r\nradix-tree-(keys|nodes)\r\n:\\d+\r\n");
  std::map<std::string, std::string> contents;
  for (const std::string key : {"s0", "s1", "s2"}) {
    const std::string full =
        WithoutActivity(Ask(peer, {"XINFO", "STREAM", key, "FULL", "COUNT", "0"}));
    const size_t end = full.find("last-generated-id");  // the rest may be too long for a regex
    contents[key] = end == std::string::npos
                        ? full
                        : std::regex_replace(full.substr(0, end), blocks, "") + full.substr(end);
  }
  return contents;
}

struct Saved {
  std::string digest;
  std::map<std::string, std::string> contents;
};

// Takes a snapshot while the writer changes the streams, and returns the data that its file holds.
Saved SavedDuringWrites(EnginePeer& peer, StreamWriter& writer) {
  const Millis instant = peer.engine().store().now();
  const LargeValueLimits small = {.elements = 1 + writer.Below(200), .bytes = 300};
  SnapshotEncoder encoder(peer.engine().settings(), peer.engine().store().access_tracker(),
                          writer.Below(2) == 0 ? small : LargeValueLimits());
  {
    DatasetSnapshot snapshot(peer.engine().store().databases(), encoder);
    encoder.Begin(instant, 0, {}, snapshot);
    while (!snapshot.Continue([] { return true; })) {
      for (uint64_t left = writer.Below(writer.Below(2) == 0 ? 12 : 3); left > 0; --left) {
        Ask(peer, writer.Next());
      }
    }
    encoder.End();
  }
  EnginePeer other;
  SnapshotFile file(other.files(), {.directory = "/data", .name = "dump.rdb", .draft_name = "t"});
  EXPECT_TRUE(WritePieces(encoder.Take(), file).ok());
  EXPECT_TRUE(file.Finish().ok());
  other.engine().executor().AdvanceTo(instant);
  const absl::Status loaded = other.persistence().Start();
  EXPECT_TRUE(loaded.ok()) << loaded;
  return {.digest = Ask(other, {"DEBUG", "DIGEST"}), .contents = Contents(other)};
}

TEST(DatasetSnapshot, ContainsLargeStreamsAndTheirGroupsAtItsStart) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  StreamWriter writer(seed);
  EnginePeer peer;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2000; ++i) Ask(peer, writer.Add());
    for (const std::string key : {"s0", "s1", "s2"}) {
      Ask(peer, {"XGROUP", "CREATE", key, "g0", "0"});
      Ask(peer, {"XREADGROUP", "GROUP", "g0", "r0", "COUNT", "500", "STREAMS", key, ">"});
    }
    peer.Pass(Millis(10));
    const std::string digest = Ask(peer, {"DEBUG", "DIGEST"});
    const auto contents = Contents(peer);
    const Saved saved = SavedDuringWrites(peer, writer);
    ASSERT_EQ(saved.digest, digest) << "round " << round;
    ASSERT_EQ(saved.contents, contents) << "round " << round;
    ASSERT_NE(Contents(peer), contents) << "the streams did not change during the snapshot";
  }
}

}  // namespace
}  // namespace zsetd::stream_snapshot_test
