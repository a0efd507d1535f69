// Links of the bus on a network whose other ends are the test.
#include "server/cluster/bus_links.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

constexpr size_t kShortest = 2256;  // bytes of a message without a body

class FakePeer : public Connection {
 public:
  FakePeer(Owner& its_owner, bool& exists) : owner(its_owner), exists_(exists) { exists_ = true; }
  ~FakePeer() override { exists_ = false; }
  Endpoints endpoints() const override {
    return {.address = "10.0.0.9:1234", .local_address = "[::1]:17000", .descriptor = 9};
  }
  OutputBuffer& output() override { return output_; }
  void Send() override { ++sends; }
  size_t unsent_bytes() const override { return output_.size(); }
  void set_receives(bool) override {}

  Owner& owner;
  int sends = 0;

 private:
  bool& exists_;
  OutputBuffer output_;
};

class FakeNetwork : public Connector {
 public:
  std::unique_ptr<Connection> Connect(const Target& target, Connection::Owner& owner) override {
    last_target = target;
    auto made = std::make_unique<FakePeer>(owner, exists);
    peer = made.get();
    return made;
  }

  Target last_target;
  FakePeer* peer = nullptr;
  bool exists = false;
};

// A message without a body, or the beginning of a longer one.
std::string Header(size_t length, BusMessageType type = BusMessageType::kPing) {
  std::string bytes(kShortest, '\0');
  bytes.replace(0, 4, "RCmb");
  for (int i = 0; i < 4; ++i) bytes[4 + i] = static_cast<char>(length >> (24 - 8 * i));
  bytes[9] = 1;
  bytes[13] = static_cast<char>(type);
  return bytes;
}

class BusLinksTest : public testing::Test, public BusLinks::Owner {
 protected:
  LinkId OnAccepted(const std::string& peer_ip, const std::string& own_ip) override {
    events += "accepted " + peer_ip + " " + own_ip + ".";
    return ++last_id;
  }
  void OnOpened(LinkId link, const std::string& peer_ip, const std::string&) override {
    events += "opened " + std::to_string(link) + " " + peer_ip + ".";
  }
  void OnClosed(LinkId link) override { events += "closed " + std::to_string(link) + "."; }
  bool IsOfKnownNode(LinkId) const override { return knows_peers; }
  void OnMessage(LinkId link, std::string_view message) override {
    messages.emplace_back(message);
    if (closes_at_message) links.Close(link);
  }

  void SetUp() override { links.set_limits({.most_unsent_bytes = 5000, .most_accepted = 2}); }

  PeerPort::Accept Accept() {
    return [this](Connection::Owner& owner) { return network.Connect({}, owner); };
  }

  FakeNetwork network;
  BusLinks links{network, *this, kNoLog};
  std::string events;
  std::vector<std::string> messages;
  LinkId last_id = 100;
  bool closes_at_message = false;
  bool knows_peers = true;
};

TEST_F(BusLinksTest, SendsOnlyOnOpenLinks) {
  links.Open(7, {.host = "10.0.0.9", .port = 17000});
  links.Send(7, "early");
  links.Send(8, "unknown");
  EXPECT_EQ(network.peer->sends, 0);
  network.peer->owner.OnConnected();
  EXPECT_EQ(events, "opened 7 10.0.0.9.");
  links.Send(7, "message");
  EXPECT_EQ(network.peer->output().view(), "message");
  links.Close(7);
  EXPECT_FALSE(network.exists);
  EXPECT_EQ(links.count(), 0u);
  EXPECT_EQ(events, "opened 7 10.0.0.9.") << "a closed link is not reported";
}

TEST_F(BusLinksTest, DeliversMessagesHoweverTheyArrive) {
  std::string stream;
  std::vector<std::string> sent;
  Rng rng(1);
  for (int i = 0; i < 50; ++i) {
    const size_t length = kShortest + rng.Below(3000);
    std::string message = Header(length);
    message.resize(length, static_cast<char>('a' + i % 26));
    stream += message;
    sent.push_back(std::move(message));
  }
  links.Take(Accept(), Millis(0));
  network.peer->owner.OnConnected();
  EXPECT_EQ(events, "accepted 10.0.0.9 ::1.");
  std::string_view rest = stream;
  while (!rest.empty()) {
    const size_t most = rng.Below(4) == 0 ? 20 : 9000;
    const std::string piece(rest.substr(0, 1 + rng.Below(most)));
    rest.remove_prefix(piece.size());
    network.peer->owner.OnReceived(piece);
  }
  EXPECT_EQ(messages, sent);
}

TEST_F(BusLinksTest, OtherBytesCloseTheLink) {
  const std::vector<std::string> hostile = {std::string(100, 'x'), Header(kShortest - 1), Header(0),
                                            Header(0xffffffff)};
  for (const std::string& bytes : hostile) {
    events.clear();
    links.Take(Accept(), Millis(0));
    network.peer->owner.OnConnected();
    network.peer->owner.OnReceived(bytes);
    EXPECT_FALSE(network.exists);
    EXPECT_NE(events.find("closed"), std::string::npos);
  }
  EXPECT_TRUE(messages.empty());
}

TEST_F(BusLinksTest, AnAnnouncedLengthCostsNothing) {
  links.Take(Accept(), Millis(0));
  network.peer->owner.OnConnected();
  network.peer->owner.OnReceived(Header(100u << 20, BusMessageType::kPublish));
  EXPECT_TRUE(network.exists);
  EXPECT_LT(links.BytesUsed(), 10'000u);
}

TEST_F(BusLinksTest, ALongMessageOfAStrangerClosesTheLink) {
  knows_peers = false;
  for (const auto type : {BusMessageType::kPing, BusMessageType::kPublish}) {
    links.Take(Accept(), Millis(0));
    network.peer->owner.OnConnected();
    network.peer->owner.OnReceived(Header(kMostBytesOfStranger, type));
    EXPECT_TRUE(network.exists);
    links.Close(last_id);
    links.Take(Accept(), Millis(0));
    network.peer->owner.OnConnected();
    network.peer->owner.OnReceived(Header(kMostBytesOfStranger + 1, type).substr(0, 16));
    EXPECT_FALSE(network.exists);
  }
  EXPECT_EQ(links.count(), 0u);
}

TEST_F(BusLinksTest, APeerThatIsKnownByItsFirstMessageMaySendALongOne) {
  knows_peers = false;
  links.Take(Accept(), Millis(0));
  network.peer->owner.OnConnected();
  network.peer->owner.OnReceived(Header(kShortest));
  knows_peers = true;
  std::string publication = Header(kMostBytesOfStranger + 1, BusMessageType::kPublish);
  publication.resize(kMostBytesOfStranger + 1);
  network.peer->owner.OnReceived(publication);
  EXPECT_EQ(messages.size(), 2u);
}

TEST_F(BusLinksTest, MayBeClosedWhileItsMessageIsHandled) {
  closes_at_message = true;
  links.Open(7, {});
  network.peer->owner.OnConnected();
  network.peer->owner.OnReceived(Header(kShortest) + Header(kShortest));
  EXPECT_EQ(messages.size(), 1u);
  EXPECT_FALSE(network.exists);
  links.Maintain(Millis(0), Millis(1000));
}

TEST_F(BusLinksTest, AcceptsALimitedNumber) {
  links.Take(Accept(), Millis(0));
  links.Take(Accept(), Millis(0));
  links.Take(Accept(), Millis(0));
  EXPECT_EQ(links.count(), 2u);
  links.Maintain(Millis(1001), Millis(1000));  // none of them has sent a message
  EXPECT_EQ(links.count(), 0u);
  links.Take(Accept(), Millis(2000));
  EXPECT_EQ(links.count(), 1u);
}

TEST_F(BusLinksTest, StrangersKeepNoNodeOut) {
  knows_peers = false;
  for (int i = 0; i < 3; ++i) {
    links.Take(Accept(), Millis(0));
    network.peer->owner.OnConnected();
    network.peer->owner.OnReceived(Header(kShortest));
  }
  EXPECT_EQ(links.count(), 2u);
  EXPECT_EQ(last_id, 103u);
  EXPECT_TRUE(events.ends_with("closed 101.accepted 10.0.0.9 ::1.")) << events;
  knows_peers = true;  // both are nodes
  links.Take(Accept(), Millis(0));
  EXPECT_EQ(links.count(), 2u);
  links.Close(102);
  links.Close(103);
  EXPECT_EQ(links.count(), 0u);
}

TEST_F(BusLinksTest, ALinkWithTooMuchUnsentIsClosed) {
  links.Open(7, {});
  network.peer->owner.OnConnected();
  links.Send(7, std::string(5000, 'x'));
  links.Maintain(Millis(0), Millis(1000));
  EXPECT_EQ(links.overflows(), 0u);
  links.Send(7, "x");
  links.Maintain(Millis(0), Millis(1000));
  EXPECT_EQ(links.overflows(), 1u);
  EXPECT_EQ(events, "opened 7 10.0.0.9.closed 7.");
}

}  // namespace
}  // namespace zsetd
