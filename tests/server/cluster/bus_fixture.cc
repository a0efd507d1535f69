#include "tests/server/cluster/bus_fixture.h"

#include <algorithm>

#include "server/engine/support/errors.h"

namespace zsetd {

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
