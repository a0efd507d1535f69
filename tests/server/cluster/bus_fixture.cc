#include "tests/server/cluster/bus_fixture.h"

#include <algorithm>

#include "server/engine/support/errors.h"

namespace zsetd {

std::string IdOf(char digit) { return std::string(kNodeIdLength, digit); }

void FakeHost::Send(LinkId link, std::string_view bytes) {
  const auto message = DecodeBusMessage(bytes);
  ASSERT_TRUE(message.has_value());
  sent.emplace_back(link, *message);
  events.push_back(std::string(BusMessageName(message->header.type)));
}

absl::Status FakeHost::Save(bool is_synced) {
  if (!disk_works) return Refusal("the disk is full");
  disk = NodesFileText(bus->topology());
  events.push_back(is_synced ? "save, sync" : "save");
  return absl::OkStatus();
}

std::string Nodes(std::string_view own, std::string_view b_flags) {
  const auto line = [&](char id, const std::string& rest) {
    const bool is_self = own[0] == id;
    return IdOf(id) + " 10.0.0." + std::to_string(id - 'a' + 1) + ":6379@16379 " +
           (is_self ? "myself," : "") + rest + "\n";
  };
  return line('a', "master - 0 0 1 connected 0-4999") +
         line('b', std::string(b_flags) + " - 0 0 2 connected 5000-9999") +
         line('c', "master - 0 0 3 connected 10000-16383") +
         line('d', "slave " + IdOf('b') + " 0 0 2 connected") +
         line('e', "slave " + IdOf('b') + " 0 0 2 connected") +
         "vars currentEpoch 3 lastVoteEpoch 0\n";
}

void BusFixture::Start(const std::string& nodes) {
  bus.reset();
  BusSettings settings;
  settings.node_timeout = 2000;
  settings.port = 6379;
  settings.bus_port = 16379;
  bus = std::make_unique<ClusterBus>(*ReadNodesText(nodes), host, rng, settings);
  host.bus = bus.get();
  host.opened.clear();
  links_.clear();
}

void BusFixture::Connect() {
  bus->Tick();
  for (const auto& [link, address] : std::exchange(host.opened, {})) {
    bus->OnOpened(link, address.substr(0, address.find(':')), "10.0.0.1");
  }
  (void)bus->Settle();
  host.events.clear();
  host.sent.clear();
}

BusMessage BusFixture::From(char id, BusMessageType type) {
  BusMessage message;
  BusHeader& header = message.header;
  header.type = type;
  header.sender = IdOf(id);
  header.port = 6379;
  header.bus_port = 16379;
  header.is_up = true;
  header.current_epoch = 3;
  const ClusterNode* node = bus->topology().Find(IdOf(id));
  if (node == nullptr) {
    header.flags = kBusMaster;
    return message;
  }
  const ClusterNode& master = bus->topology().MasterOf(*node);
  header.flags = node->is_replica ? kBusReplica : kBusMaster;
  header.master_id = node->master_id;
  header.config_epoch = master.config_epoch;
  header.slots = master.slots.bytes();
  return message;
}

void BusFixture::Deliver(const BusMessage& message) {
  const char id = message.header.sender[0];
  LinkId& link = links_[id];
  if (link == 0) link = bus->Accept("10.0.0." + std::to_string(id - 'a' + 1), "10.0.0.1");
  bus->OnMessage(link, EncodeBusMessage(message));
  EXPECT_TRUE(bus->Settle().ok() || !host.disk_works);
}

void BusFixture::Gossip(char from, char about, uint16_t flags) {
  BusMessage message = From(from, BusMessageType::kPing);
  message.gossip.push_back({.id = IdOf(about),
                            .ip = "10.0.0." + std::to_string(about - 'a' + 1),
                            .port = 6379,
                            .bus_port = 16379,
                            .flags = flags});
  Deliver(message);
}

bool BusFixture::WasSent(BusMessageType type) const {
  return std::ranges::any_of(host.sent,
                             [&](const auto& sent) { return sent.second.header.type == type; });
}

void BusFixture::Pass(int64_t millis, std::string_view silent) {
  for (int64_t end = host.now + millis; host.now < end;) {
    host.now += 100;
    bus->Tick();
    for (const auto& [id, link] : LinkIds()) {
      if (silent.find(id[0]) == std::string::npos) {
        bus->OnMessage(link, EncodeBusMessage(From(id[0], BusMessageType::kPong)));
      }
    }
    (void)bus->Settle();
  }
}

std::map<std::string, LinkId> BusFixture::LinkIds() const {
  std::map<std::string, LinkId> ids;
  for (const auto& [id, node] : bus->topology().nodes()) {
    if (node->link != 0 && !node->in_handshake) ids[id] = node->link;
  }
  return ids;
}

}  // namespace zsetd
