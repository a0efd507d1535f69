// The requests of a replica to its master, and its parsing of the replies, however the bytes are
// split.
#include "server/replication/master_link.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace zsetd::master_link_test {
namespace {

using State = MasterLink::State;
using Strings = std::vector<std::string>;

const std::string kId(40, 'a');
const std::string kOtherId(40, 'b');
const std::string kMark = "0123456789abcdef0123456789abcdef01234567";

// Records the events. Joins the pieces of the snapshot and of the stream.
struct Record : MasterLink::Listener {
  void OnFullSync(const std::optional<ReplicationPosition>& position) override {
    events.push_back(position ? "full " + position->id + " " + std::to_string(position->offset)
                              : "full of an old master");
  }
  void OnSnapshot(std::optional<uint64_t> bytes) override {
    events.push_back("snapshot " + (bytes ? std::to_string(*bytes) : "until a mark"));
  }
  void OnSnapshotBytes(std::string_view bytes) override { snapshot += bytes; }
  void OnSnapshotEnd() override { events.push_back("end"); }
  void OnContinue(std::string_view new_id) override {
    events.push_back("continue " + std::string(new_id));
  }
  void OnStream(std::string_view bytes) override { stream += bytes; }

  Strings events;
  std::string snapshot;
  std::string stream;
};

// A link whose master is the test.
struct Link {
  explicit Link(LinkOptions options = {.port = 7000, .version = "7.0.15"})
      : link(std::move(options), record) {
    link.Start(out);
  }

  void Receive(std::string_view bytes) { link.Receive(bytes, out); }
  std::string Sent() {
    std::string sent(out.view());
    out.Clear();
    return sent;
  }

  Record record;
  OutputBuffer out;
  MasterLink link;
};

std::string Request(const Strings& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

const std::string kIntroduced = "+PONG\r\n+OK\r\n+OK\r\n+OK\r\n";  // without AUTH and address

TEST(MasterLink, IntroducesItselfAndRequestsAFullSync) {
  Link link;
  EXPECT_EQ(link.Sent(), Request({"PING"}));
  link.Receive("+PONG\r\n");
  EXPECT_EQ(link.Sent(), Request({"REPLCONF", "listening-port", "7000"}) +
                             Request({"REPLCONF", "capa", "eof", "capa", "psync2"}) +
                             Request({"REPLCONF", "version", "7.0.15"}));
  link.Receive("+OK\r\n+OK\r\n");
  EXPECT_EQ(link.Sent(), "");
  link.Receive("-ERR Unrecognized REPLCONF option: version\r\n");
  EXPECT_EQ(link.Sent(), Request({"PSYNC", "?", "-1"}));
  EXPECT_EQ(link.link.state(), State::kSync);
}

TEST(MasterLink, AuthenticatesAndAnnouncesItsAddress) {
  Link link({.user = "replica", .password = "secret", .port = 7000, .address = "10.0.0.1"});
  link.Receive("-NOAUTH Authentication required.\r\n");
  EXPECT_TRUE(link.Sent().starts_with(Request({"PING"}) + Request({"AUTH", "replica", "secret"}) +
                                      Request({"REPLCONF", "listening-port", "7000"}) +
                                      Request({"REPLCONF", "ip-address", "10.0.0.1"})));
  link.Receive("+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n");
  EXPECT_EQ(link.Sent(), Request({"PSYNC", "?", "-1"}));
}

TEST(MasterLink, AuthenticatesByPasswordAlone) {
  Link link({.password = "secret"});
  link.Sent();
  link.Receive("+PONG\r\n");
  EXPECT_TRUE(link.Sent().starts_with(Request({"AUTH", "secret"})));
}

TEST(MasterLink, FailsIfItIsRefused) {
  for (const std::string answer :
       {"-LOADING Redis is loading the dataset in memory\r\n", "-MASTERDOWN Link is down\r\n"}) {
    Link link;
    link.Receive(answer);
    EXPECT_EQ(link.link.state(), State::kFailed) << answer;
  }
  Link with_password({.password = "secret"});
  with_password.Receive("+PONG\r\n-WRONGPASS invalid username-password pair\r\n");
  EXPECT_EQ(with_password.link.failure(),
            "the master refuses AUTH: -WRONGPASS invalid username-password pair");
  Link without;
  without.Receive("-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(without.link.failure(),
            "the master refuses REPLCONF listening-port: -NOAUTH Authentication required.");
  for (const std::string answer :
       {"-NOMASTERLINK Can't SYNC while not connected with my master\r\n", "-LOADING\r\n",
        "-NOPERM no\r\n", "+FULLRESYNC short 0\r\n",
        "+FULLRESYNC aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 9223372036854775807\r\n",
        "+CONTINUE\r\n", "+OK\r\n", "*3\r\n"}) {
    Link link;
    link.Receive(kIntroduced + answer);
    EXPECT_EQ(link.link.state(), State::kFailed) << answer;
    EXPECT_TRUE(link.record.events.empty()) << answer;
  }
}

TEST(MasterLink, ContinuesWithTheNextByteOfItsHistory) {
  const LinkOptions options = {.continuing = ReplicationPosition{kId, 41}};
  Link link(options);
  link.Receive(kIntroduced);
  EXPECT_TRUE(link.Sent().ends_with(Request({"PSYNC", kId, "42"})));
  link.Receive("\n\n+CONTINUE " + kOtherId + "\r\n*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(link.record.events, Strings{"continue " + kOtherId});
  EXPECT_EQ(link.record.stream, "*1\r\n$4\r\nPING\r\n");

  for (const std::string answer : {"+CONTINUE\r\n", "+CONTINUE \r\n"}) {
    Link same(options);
    same.Receive(kIntroduced + answer);
    EXPECT_EQ(same.record.events, Strings{"continue "});
  }
  Link known(options);
  known.Receive(kIntroduced + "+CONTINUE " + kId + "\r\n");
  EXPECT_EQ(known.record.events, Strings{"continue "});
}

TEST(MasterLink, UsesSyncWithAnOldMaster) {
  Link link;
  link.Receive(kIntroduced);
  link.Sent();
  link.Receive("-ERR unknown command 'PSYNC'\r\n");
  EXPECT_EQ(link.Sent(), Request({"SYNC"}));
  EXPECT_TRUE(link.link.IsOld());
  link.Receive("\n$3\r\nabcd");
  EXPECT_EQ(link.record.events, (Strings{"full of an old master", "snapshot 3", "end"}));
  EXPECT_EQ(link.record.snapshot + "|" + link.record.stream, "abc|d");
}

// The master's bytes arrive in two parts that are split at every position, and byte by byte.
void ExpectHoweverSplit(const std::string& bytes, const Strings& events,
                        const std::string& snapshot, const std::string& stream) {
  const auto check = [&](Link& link, size_t where) {
    EXPECT_EQ(link.record.events, events) << "split at byte " << where;
    EXPECT_EQ(link.record.snapshot, snapshot) << "split at byte " << where;
    EXPECT_EQ(link.record.stream, stream) << "split at byte " << where;
    EXPECT_EQ(link.link.state(), State::kStream) << link.link.failure();
  };
  for (size_t where = 0; where <= bytes.size(); ++where) {
    Link link;
    link.Receive(std::string_view(bytes).substr(0, where));
    link.Receive(std::string_view(bytes).substr(where));
    check(link, where);
  }
  for (const size_t step : {1, 2, 3, 7, 39, 40, 41}) {
    Link link;
    for (size_t at = 0; at < bytes.size(); at += step) {
      link.Receive(std::string_view(bytes).substr(at, step));
    }
    check(link, step);
  }
}

const std::string kFull = kIntroduced + "\n\n+FULLRESYNC " + kId + " 1234\r\n\n\n";
const Strings kFullEvents = {"full " + kId + " 1234"};

Strings WithSnapshot(const std::string& how) { return {kFullEvents[0], "snapshot " + how, "end"}; }

TEST(MasterLink, TakesASnapshotOfKnownSize) {
  const std::string snapshot = "REDIS0010 something\r\n\n$7\r\n+OK\r\n";
  const std::string stream = "*1\r\n$4\r\nPING\r\n";
  const std::string size = std::to_string(snapshot.size());
  ExpectHoweverSplit(kFull + "$" + size + "\r\n" + snapshot + stream, WithSnapshot(size), snapshot,
                     stream);
  ExpectHoweverSplit(kFull + "$0\r\n" + stream, WithSnapshot("0"), "", stream);
}

TEST(MasterLink, TakesASnapshotUntilItsMark) {
  const std::string snapshot =
      "REDIS0010 " + kMark.substr(0, 39) + kMark.substr(0, 39) + "\r\n" + kMark.substr(1);
  const std::string stream = "*1\r\n$4\r\nPING\r\n";
  for (const std::string& payload : {snapshot, std::string("x"), std::string()}) {
    ExpectHoweverSplit(kFull + "$EOF:" + kMark + "\r\n" + payload + kMark + stream,
                       WithSnapshot("until a mark"), payload, stream);
  }
}

TEST(MasterLink, ForwardsASnapshotWithoutBufferingMore) {
  Link link;
  link.Receive(kFull + "$EOF:" + kMark + "\r\n");
  size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    link.Receive(std::string(777, 'x'));
    sent += 777;
    EXPECT_EQ(link.record.snapshot.size(), sent - 39);
  }
}

TEST(MasterLink, FailsWhenThereIsNoSnapshot) {
  for (const std::string answer : {"-ERR the disk is full\r\n", "+OK\r\n", "$EOF:short\r\n",
                                   "$-1\r\n", "$x\r\n", "$18446744073709551616\r\n"}) {
    Link link;
    link.Receive(kFull + answer + "more");
    EXPECT_EQ(link.link.state(), State::kFailed) << answer;
    EXPECT_EQ(link.record.events, kFullEvents) << answer;
    link.Receive("even more");
    EXPECT_EQ(link.record.snapshot + link.record.stream, "");
  }
}

// A line without an end does not use more and more memory.
TEST(MasterLink, FailsWhenALineDoesNotEnd) {
  Link link;
  for (int i = 0; i < 11 && link.link.state() == State::kGreeting; ++i) {
    link.Receive(std::string(100, 'x'));
  }
  EXPECT_EQ(link.link.state(), State::kFailed);
}

}  // namespace
}  // namespace zsetd::master_link_test
