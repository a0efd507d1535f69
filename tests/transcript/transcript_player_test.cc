#include "tests/transcript/transcript_player.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

namespace zsetd {
namespace {

constexpr std::string_view kClosed = "closed";

// Sends its lines one after the other, to the client that receives.
class ScriptedPeer : public Peer {
 public:
  explicit ScriptedPeer(std::deque<std::string_view> lines) : lines_(std::move(lines)) {}

  void Send(const std::string& client, std::string_view) override { connected_.insert(client); }

  std::string Receive(const std::string& client, Millis) override {
    if (lines_.empty()) return {};
    const std::string line(lines_.front());
    lines_.pop_front();
    if (line != kClosed) return line;
    connected_.erase(client);
    return {};
  }

  bool Closed(const std::string& client) override { return !connected_.contains(client); }
  void Pass(Millis time) override { passed_ += time; }

  Millis passed() const { return passed_; }

 private:
  std::deque<std::string_view> lines_;
  std::set<std::string> connected_;
  Millis passed_{0};
};

void Play(std::string_view text, std::deque<std::string_view> lines,
          Dialect dialect = Dialect::kNewest) {
  ScriptedPeer peer(std::move(lines));
  Play(*ParseTranscript(text), "file", dialect, peer);
}

TEST(Player, AcceptsTheExpectedReplies) {
  Play("a> PING\n+PONG\na> GET k\n$1\nv\n", {"+PONG\r\n", "$1\r\n", "v\r\n"});
  Play("a> QUIT\n+OK\n(closed)\n", {"+OK\r\n", kClosed});
  Play("a> PING\n(waits)\na<\n+PONG\n", {"", "+PONG\r\n"});
  Play("a> PING\n+PONG\n7.0.15| +OLD\n", {"+OLD\r\n"}, Dialect::kOracle);
  Play("proto 3\na> PING\n+PONG\n", {"%0\r\n", "+PONG\r\n"});
}

TEST(Player, ReportsAWrongReply) {
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n+PONG\n", {"+OK\r\n"}),
                          "a> PING\nexpected:\n+PONG\ngot:\n+OK\n");
}

TEST(Player, ReportsAMissingReply) {
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n+PONG\n", {}), "(nothing)");
  EXPECT_NONFATAL_FAILURE(Play("a> GET k\n$1\nv\n", {"$1\r\n"}), "got:\n$1\n");
}

TEST(Player, ReportsAdditionalOutput) {
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n+PONG\n", {"+PONG\r\n+PONG\r\n"}), "+PONG\n+PONG\n");
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n+PONG\n", {"+PONG\r\n", "+PONG\r\n"}), "unexpected");
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n(waits)\n", {"+PONG\r\n"}), "(waits)\ngot:\n+PONG");
}

TEST(Player, ReportsAConnectionThatClosesOrDoesNot) {
  EXPECT_NONFATAL_FAILURE(Play("a> PING\n(waits)\n", {kClosed}), "(closed)");
  EXPECT_NONFATAL_FAILURE(Play("a> QUIT\n+OK\n(closed)\n", {"+OK\r\n"}),
                          "expected:\n+OK\n(closed)");
}

TEST(Player, PassesTime) {
  ScriptedPeer peer({});
  Play(*ParseTranscript("+1500\n"), "file", Dialect::kNewest, peer);
  EXPECT_EQ(peer.passed(), Millis(1500));
}

}  // namespace
}  // namespace zsetd
