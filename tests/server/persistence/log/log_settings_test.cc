// A log is loaded whatever the settings were when it was written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/persistence/log/log_peer.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd::log_test {
namespace {

std::string Library(const std::string& name, const std::string& result) {
  return "#!lua name=" + name + "\nredis.register_function('" + name + "', function() return '" +
         result + "' end)";
}

TEST(LogSettings, ASmallerLimitOfStringsDoesNotRefuseTheLog) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  const std::string offset = std::to_string(2 << 20);
  const std::string bit = std::to_string(16 << 20);
  Ask(peer, {"SET", "a", std::string(1 << 20, 'x')});
  for (const Words& words : std::vector<Words>{{"APPEND", "a", "y"},
                                               {"SETRANGE", "b", offset, "q"},
                                               {"SETBIT", "c", bit, "1"},
                                               {"BITFIELD", "d", "SET", "u8", bit, "7"}}) {
    EXPECT_FALSE(Ask(peer, words).starts_with('-')) << words[0];
  }
  Flush(peer);
  Settings smaller = WithLog();
  smaller.proto_max_bulk_len = 1 << 20;
  EXPECT_EQ(DigestAfterStart(peer.files().contents(), smaller), Digest(peer));
  EnginePeer restarted(smaller);
  EXPECT_TRUE(Ask(restarted, {"SETRANGE", "b", offset, "q"}).starts_with("-ERR string exceeds"));
}

TEST(LogSettings, LibrariesAreKeptWithoutScripting) {
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"FUNCTION", "LOAD", Library("deleted", "1")});
  Ask(peer, {"FUNCTION", "DELETE", "deleted"});
  Ask(peer, {"FUNCTION", "LOAD", Library("flushed", "1")});
  Ask(peer, {"FUNCTION", "FLUSH"});
  Ask(peer, {"FUNCTION", "LOAD", Library("kept", "1")});
  Ask(peer, {"FUNCTION", "LOAD", "REPLACE", Library("kept", "2")});
  Ask(peer, {"SET", "a", "1"});
  Flush(peer);

  Settings settings = WithLog();
  settings.scripting = false;
  EnginePeer without(settings);
  Place(peer.files().contents(), without);
  const absl::Status status = without.persistence().Start();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Digest(without), Digest(peer));
  EXPECT_TRUE(Ask(without, {"FCALL", "kept", "0"}).starts_with("-ERR Scripts are turned off"));
  EXPECT_TRUE(Ask(without, {"FUNCTION", "LOAD", Library("own", "1")})
                  .starts_with("-ERR Scripts are turned off"));
  Rewrite(without);
  Flush(without);

  EnginePeer again(WithLog());
  Place(without.files().contents(), again);
  ASSERT_TRUE(again.persistence().Start().ok());
  EXPECT_EQ(Ask(again, {"FCALL", "kept", "0"}), "$1\r\n2\r\n");
  for (const char* const name : {"deleted", "flushed", "own"}) {
    EXPECT_EQ(Ask(again, {"FCALL", name, "0"}), "-ERR Function not found\r\n");
  }
}

TEST(LogSettings, RestoredLibrariesAreKeptWithoutScripting) {
  EnginePeer source;
  Ask(source, {"FUNCTION", "LOAD", Library("restored", "1")});
  const std::string reply = Ask(source, {"FUNCTION", "DUMP"});
  const size_t start = reply.find("\r\n") + 2;
  const std::string dump = reply.substr(start, reply.size() - start - 2);
  EnginePeer peer(WithLog());
  ASSERT_TRUE(peer.persistence().Start().ok());
  Ask(peer, {"FUNCTION", "LOAD", Library("old", "1")});
  EXPECT_EQ(Ask(peer, {"FUNCTION", "RESTORE", dump, "FLUSH"}), "+OK\r\n");
  Flush(peer);
  Settings settings = WithLog();
  settings.scripting = false;
  EnginePeer without(settings);
  Place(peer.files().contents(), without);
  ASSERT_TRUE(without.persistence().Start().ok());
  Rewrite(without);
  EnginePeer again(WithLog());
  Place(without.files().contents(), again);
  ASSERT_TRUE(again.persistence().Start().ok());
  EXPECT_EQ(Ask(again, {"FCALL", "restored", "0"}), "$1\r\n1\r\n");
  EXPECT_EQ(Ask(again, {"FCALL", "old", "0"}), "-ERR Function not found\r\n");
}

}  // namespace
}  // namespace zsetd::log_test
