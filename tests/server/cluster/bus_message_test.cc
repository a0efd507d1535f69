#include "server/cluster/message/bus_message.h"

#include <gtest/gtest.h>

#include <string>

#include "core/util/rng.h"
#include "server/cluster/topology/cluster_node.h"

namespace zsetd {
namespace bus_message_test {
namespace {

std::string IdOf(char digit) { return std::string(kNodeIdLength, digit); }

BusMessage Ping() {
  BusMessage message;
  BusHeader& header = message.header;
  header.sender = IdOf('a');
  header.master_id = IdOf('b');
  header.current_epoch = 0x0102030405060708;
  header.config_epoch = 9;
  header.replication_offset = 10;
  header.slots[0] = 0x81;
  header.ip = "10.0.0.1";
  header.port = 6379;
  header.second_port = 6380;
  header.bus_port = 16379;
  header.flags = kBusReplica | kBusMyself;
  header.is_up = true;
  header.reads_extensions = true;
  message.gossip.push_back({.id = IdOf('c'),
                            .ping_sent = 1,
                            .pong_received = 2,
                            .ip = "::1",
                            .port = 3,
                            .second_port = 4,
                            .bus_port = 5,
                            .flags = kBusMaster | kBusMayHaveFailed});
  message.extensions = BusExtensions{.hostname = "host.example",
                                     .human_name = "red",
                                     .shard_id = IdOf('d'),
                                     .forgotten_nodes = {{IdOf('e'), 60}}};
  return message;
}

uint64_t NumberAt(const std::string& bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (size_t index = 0; index < count; ++index) {
    number = number << 8 | static_cast<uint8_t>(bytes[at + index]);
  }
  return number;
}

void SetNumberAt(std::string& bytes, size_t at, size_t count, uint64_t number) {
  for (size_t index = count; index > 0; --index, number >>= 8) {
    bytes[at + index - 1] = static_cast<char>(number);
  }
}

// A message whose total length is corrected, so that only the change itself is wrong.
bool IsAccepted(std::string bytes) {
  if (bytes.size() >= 8) SetNumberAt(bytes, 4, 4, bytes.size());
  return DecodeBusMessage(bytes).has_value();
}

TEST(BusMessage, FieldsAreAtTheOffsetsOfRedis) {
  const std::string bytes = EncodeBusMessage(Ping());
  EXPECT_EQ(bytes.substr(0, 4), "RCmb");
  EXPECT_EQ(NumberAt(bytes, 4, 4), bytes.size());
  EXPECT_EQ(NumberAt(bytes, 8, 2), 1u) << "version";
  EXPECT_EQ(NumberAt(bytes, 10, 2), 6379u);
  EXPECT_EQ(NumberAt(bytes, 12, 2), 0u) << "type";
  EXPECT_EQ(NumberAt(bytes, 14, 2), 1u) << "entries of gossip";
  EXPECT_EQ(NumberAt(bytes, 16, 8), 0x0102030405060708u);
  EXPECT_EQ(NumberAt(bytes, 24, 8), 9u);
  EXPECT_EQ(NumberAt(bytes, 32, 8), 10u);
  EXPECT_EQ(bytes.substr(40, 40), IdOf('a'));
  EXPECT_EQ(NumberAt(bytes, 80, 1), 0x81u) << "slots 0 and 7";
  EXPECT_EQ(bytes.substr(2128, 40), IdOf('b'));
  EXPECT_STREQ(bytes.c_str() + 2168, "10.0.0.1");
  EXPECT_EQ(NumberAt(bytes, 2214, 2), 4u) << "extensions";
  EXPECT_EQ(NumberAt(bytes, 2246, 2), 6380u);
  EXPECT_EQ(NumberAt(bytes, 2248, 2), 16379u);
  EXPECT_EQ(NumberAt(bytes, 2250, 2), 2u + 16u);
  EXPECT_EQ(NumberAt(bytes, 2252, 1), 0u) << "the cluster is up";
  EXPECT_EQ(NumberAt(bytes, 2253, 1), 4u) << "reads extensions";
  EXPECT_EQ(bytes.substr(2256, 40), IdOf('c'));
  EXPECT_EQ(NumberAt(bytes, 2256 + 40, 4), 1u);
  EXPECT_EQ(NumberAt(bytes, 2256 + 44, 4), 2u);
  EXPECT_STREQ(bytes.c_str() + 2256 + 48, "::1");
  EXPECT_EQ(NumberAt(bytes, 2256 + 94, 2), 3u);
  EXPECT_EQ(NumberAt(bytes, 2256 + 96, 2), 5u);
  EXPECT_EQ(NumberAt(bytes, 2256 + 98, 2), 5u) << "flags: master, fail?";
  EXPECT_EQ(NumberAt(bytes, 2256 + 100, 2), 4u);
  EXPECT_EQ(NumberAt(bytes, 2360, 4), 24u) << "a header, 12 bytes and a NUL, padding";
  EXPECT_EQ(bytes.size() % 8, 0u);
}

TEST(BusMessage, DecodesWhatItEncodes) {
  const BusMessage ping = Ping();
  const std::string bytes = EncodeBusMessage(ping);
  const auto read = DecodeBusMessage(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(EncodeBusMessage(*read), bytes);
  EXPECT_EQ(read->extensions->hostname, "host.example");
  EXPECT_EQ(read->extensions->human_name, "red");
  EXPECT_EQ(read->extensions->shard_id, IdOf('d'));
  EXPECT_EQ(read->extensions->forgotten_nodes.at(0).id, IdOf('e'));
  EXPECT_EQ(read->extensions->forgotten_nodes.at(0).seconds, 60u);

  BusMessage publication;
  publication.header.sender = IdOf('a');
  publication.header.type = BusMessageType::kPublishShard;
  publication.channel = "news";
  publication.payload = std::string_view("a\0b", 3);
  const std::string published = EncodeBusMessage(publication);
  EXPECT_EQ(published.size(), 2256u + 8 + 4 + 3);
  EXPECT_EQ(DecodeBusMessage(published)->channel, "news");
  EXPECT_EQ(DecodeBusMessage(published)->payload, std::string_view("a\0b", 3));

  BusMessage update;
  update.header.sender = IdOf('a');
  update.header.type = BusMessageType::kUpdate;
  update.subject_id = IdOf('b');
  update.subject_epoch = 7;
  update.subject_slots[2047] = 0x80;
  const std::string updated = EncodeBusMessage(update);
  EXPECT_EQ(updated.size(), 2256u + 2096);
  EXPECT_EQ(DecodeBusMessage(updated)->subject_id, IdOf('b'));
  EXPECT_EQ(DecodeBusMessage(updated)->subject_epoch, 7u);
  EXPECT_TRUE(SlotSet(DecodeBusMessage(updated)->subject_slots).Contains(16383));

  BusMessage failure;
  failure.header.sender = IdOf('a');
  failure.header.type = BusMessageType::kFail;
  failure.subject_id = IdOf('b');
  EXPECT_EQ(EncodeBusMessage(failure).size(), 2256u + 40);
  EXPECT_EQ(DecodeBusMessage(EncodeBusMessage(failure))->subject_id, IdOf('b'));

  BusMessage request;
  request.header.sender = IdOf('a');
  request.header.type = BusMessageType::kAuthRequest;
  request.header.forces_vote = true;
  EXPECT_EQ(EncodeBusMessage(request).size(), 2256u);
  EXPECT_TRUE(DecodeBusMessage(EncodeBusMessage(request))->header.forces_vote);
}

TEST(BusMessage, RefusesEachPrefix) {
  const std::string bytes = EncodeBusMessage(Ping());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(IsAccepted(bytes.substr(0, length))) << length;
  }
  EXPECT_TRUE(IsAccepted(bytes));
  EXPECT_FALSE(IsAccepted(bytes + "x"));
}

TEST(BusMessage, RefusesCountsAndLengthsThatDoNotFit) {
  const std::string good = EncodeBusMessage(Ping());
  const auto with = [&](size_t at, size_t count, uint64_t number) {
    std::string bytes = good;
    SetNumberAt(bytes, at, count, number);
    return bytes;
  };
  EXPECT_FALSE(IsAccepted(with(14, 2, 65535))) << "gossip";
  EXPECT_FALSE(IsAccepted(with(14, 2, 0))) << "gossip";
  EXPECT_FALSE(IsAccepted(with(2214, 2, 65535))) << "extensions";
  EXPECT_FALSE(IsAccepted(with(2360, 4, 0))) << "an extension without its header";
  EXPECT_FALSE(IsAccepted(with(2360, 4, 20))) << "no multiple of 8";
  EXPECT_FALSE(IsAccepted(with(2360, 4, 0xfffffff8))) << "an extension beyond the end";
  EXPECT_FALSE(IsAccepted(with(8, 2, 2))) << "version";
  EXPECT_FALSE(IsAccepted(with(12, 2, 11))) << "type";
  EXPECT_FALSE(IsAccepted(with(12, 2, 3))) << "a FAIL of another length";
  EXPECT_FALSE(IsAccepted(with(12, 2, 4))) << "a PUBLISH of another length";
}

// An extension count has 16 bits.
TEST(BusMessage, NamesALimitedNumberOfForgottenNodes) {
  BusMessage ping = Ping();
  ping.extensions->forgotten_nodes.resize(70'000, {IdOf('e'), 60});
  ping.extensions->forgotten_nodes[0].id = IdOf('f');
  const std::string bytes = EncodeBusMessage(ping);
  EXPECT_EQ(BusMessageLength(bytes), bytes.size());
  const auto read = DecodeBusMessage(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->extensions->forgotten_nodes.size(), kMostForgottenNodes);
  EXPECT_EQ(read->extensions->forgotten_nodes[0].id, IdOf('f'));
  EXPECT_EQ(read->extensions->shard_id, IdOf('d'));
}

TEST(BusMessage, SkipsUnknownExtensions) {
  std::string bytes = EncodeBusMessage(Ping());
  SetNumberAt(bytes, 2360 + 4, 2, 4711);
  const auto read = DecodeBusMessage(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->extensions->hostname, std::nullopt);
  EXPECT_EQ(read->extensions->human_name, "red");
}

TEST(BusMessage, RefusesNumbersAndNamesThatNodesConfCannotContain) {
  BusMessage message = Ping();
  message.header.current_epoch = message.header.config_epoch = kMostEpoch;
  EXPECT_TRUE(IsAccepted(EncodeBusMessage(message)));
  message.header.current_epoch = kMostEpoch + 1;
  EXPECT_FALSE(IsAccepted(EncodeBusMessage(message)));
  message.header.current_epoch = 0;
  message.header.config_epoch = UINT64_MAX;
  EXPECT_FALSE(IsAccepted(EncodeBusMessage(message)));

  const std::string zeros(kNodeIdLength, '0');
  message = Ping();
  message.header.sender = zeros;
  EXPECT_FALSE(IsAccepted(EncodeBusMessage(message)));
  message = Ping();
  message.gossip[0].id = zeros;
  const std::optional<BusMessage> read = DecodeBusMessage(EncodeBusMessage(message));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->gossip.size(), message.gossip.size() - 1);
}

// These would damage nodes.conf.
TEST(BusMessage, RefusesTextsThatNodesConfCannotContain) {
  for (const size_t at : {40, 2128, 2168, 2360 + 8}) {
    for (const char c : {' ', '\n', ',', '='}) {
      std::string bytes = EncodeBusMessage(Ping());
      bytes[at] = c;
      EXPECT_FALSE(IsAccepted(bytes)) << at;
    }
  }
  std::string bytes = EncodeBusMessage(Ping());
  bytes[2256] = ' ';
  ASSERT_TRUE(DecodeBusMessage(bytes).has_value());
  EXPECT_TRUE(DecodeBusMessage(bytes)->gossip.empty()) << "an entry about an invalid name";
}

TEST(BusMessage, LengthIsBoundedByTheType) {
  const auto length_of = [](uint64_t type, uint64_t length) {
    std::string bytes = EncodeBusMessage(Ping());
    SetNumberAt(bytes, 4, 4, length);
    SetNumberAt(bytes, 12, 2, type);
    return BusMessageLength(bytes.substr(0, kBusPrefixBytes));
  };
  EXPECT_EQ(length_of(0, 2256), 2256u);
  EXPECT_EQ(length_of(0, 2255), std::nullopt);
  EXPECT_EQ(length_of(0, 100u << 20), std::nullopt);
  EXPECT_EQ(length_of(4, 100u << 20), 100u << 20);
  EXPECT_EQ(length_of(4, 0xffffffff), std::nullopt);
  EXPECT_EQ(BusMessageLength("GET / HTTP/1.1\r\n"), std::nullopt);
}

// Any bytes are accepted or refused. The accepted ones have the same meaning when they are encoded
// again.
TEST(BusMessage, SurvivesChangedBytes) {
  const uint64_t seed = 20261126;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  const std::string good = EncodeBusMessage(Ping());
  size_t accepted = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string bytes = good;
    for (uint64_t changes = 1 + rng.Below(3); changes > 0; --changes) {
      const bool is_fixed_part = rng.Below(2) == 0;
      const size_t at = is_fixed_part ? rng.Below(40) : 2100 + rng.Below(bytes.size() - 2100);
      bytes[at] = static_cast<char>(rng.Below(256));
    }
    const auto read = DecodeBusMessage(bytes);
    if (!read) continue;
    ++accepted;
    const std::string again = EncodeBusMessage(*read);
    const auto reread = DecodeBusMessage(again);
    ASSERT_TRUE(reread.has_value());
    ASSERT_EQ(EncodeBusMessage(*reread), again);
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace bus_message_test
}  // namespace zsetd
