// Messages of a cluster's bus under libFuzzer. A node with four others receives messages whose
// bytes are changed. It stays consistent, what it saves can be read again, and it votes once in an
// epoch.
//
//   sender and type | number of changed pieces | offset, length, bytes of each piece     1, 1, 2, 1
//
// The messages follow each other; a second passes after each.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "server/cluster/bus/cluster_bus.h"
#include "server/cluster/topology/nodes_text.h"
#include "tests/server/cluster/bus_messages.h"

namespace zsetd {
namespace {

constexpr std::string_view kSenders = "bcdef";  // f is unknown

// The text without the states of links, which are not restored.
std::string WithoutLinks(std::string text) {
  constexpr std::string_view kDisconnected = " disconnected";
  for (size_t at = 0; (at = text.find(kDisconnected, at)) != std::string::npos;) {
    text.replace(at, kDisconnected.size(), " connected");
  }
  return text;
}

class FuzzedHost : public BusHost {
 public:
  int64_t Now() const override { return now; }
  int64_t ReplicationOffset() const override { return 100; }
  bool IsLinkedToMaster() const override { return true; }
  int64_t DataAge() const override { return 0; }
  bool FollowsMaster() const override { return follows; }
  bool HasKeysIn(size_t slot) const override { return slot % 7 == 0; }
  void OpenLink(LinkId link, const std::string&, int64_t) override { opened.push_back(link); }
  void CloseLink(LinkId) override {}
  void Send(LinkId, std::string_view bytes) override {
    const auto message = DecodeBusMessage(bytes);
    if (!message) wrong = "an invalid message is sent";
    if (message && message->header.type == BusMessageType::kAuthAck &&
        !vote_epochs.insert(message->header.current_epoch).second) {
      wrong = "a second vote in an epoch";
    }
  }
  absl::Status Save(bool) override {
    const std::string text = NodesFileText(bus->topology());
    const auto read = ReadNodesText(text);
    if (!read.ok()) {
      wrong =
          "the saved nodes cannot be read: " + std::string(read.status().message()) + "\n" + text;
    } else if (WithoutLinks(NodesFileText(*read)) != WithoutLinks(text)) {
      wrong = "the saved nodes change when they are read:\n" + text + "to\n" + NodesFileText(*read);
    }
    return absl::OkStatus();
  }
  void TopologyChanged() override {}
  void FollowMaster(const ClusterNode&) override { follows = true; }
  void BecomeMaster() override { follows = false; }
  void DeleteAllKeys() override {}
  void DeleteKeysIn(size_t) override {}
  void PauseWrites() override {}
  void ResumeWrites() override {}
  bool AreWritesStopped() const override { return true; }
  void PublishLocally(std::string_view, std::string_view, bool) override {}
  void Log(LogLevel, std::string_view) override {}

  const ClusterBus* bus = nullptr;
  int64_t now = 1'700'000'000'000;
  bool follows = false;
  std::vector<LinkId> opened;
  std::set<uint64_t> vote_epochs;
  std::string wrong;  // in words
};

class FuzzedBytes {
 public:
  explicit FuzzedBytes(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::string_view Take(size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  size_t TakeNumber(size_t bytes) {
    size_t number = 0;
    for (const char byte : Take(bytes)) number = number << 8 | static_cast<uint8_t>(byte);
    return number;
  }

 private:
  std::string_view bytes_;
};

// A valid message of the node, from which the changes start.
std::string Message(const ClusterBus& bus, char sender, BusMessageType type) {
  BusMessage message = MessageFrom(bus, sender, type);
  message.header.current_epoch = bus.topology().current_epoch + 1;
  message.header.reads_extensions = true;
  for (const char digit : kSenders) {
    message.gossip.push_back(
        {.id = IdOf(digit), .ip = "10.0.0.9", .port = 1, .bus_port = 2, .flags = kBusMaster});
  }
  message.extensions = BusExtensions{.hostname = "host",
                                     .shard_id = IdOf('0' + sender % 10),
                                     .forgotten_nodes = {{IdOf('9'), 60}}};
  message.subject_id = IdOf('b');
  message.subject_epoch = 4;
  message.channel = "channel";
  message.payload = "payload";
  return EncodeBusMessage(message);
}

std::string WrongIn(const Topology& topology) {
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = topology.OwnerOf(slot);
    if (owner != nullptr && !owner->slots.Contains(slot)) return "an owner lacks its slot";
    if (owner != nullptr && owner->is_replica) return "a replica owns a slot";
  }
  return "";
}

// Returns the violation in words; empty if nothing is wrong.
std::string RunMessages(std::string_view data) {
  FuzzedHost host;
  Rng rng(1);
  BusSettings settings;
  settings.node_timeout = 2000;
  settings.port = 1;
  settings.bus_port = 2;
  ClusterBus bus(*ReadNodesText(Nodes("a", "master", /*master_of_e=*/'a')), host, rng, settings);
  host.bus = &bus;
  FuzzedBytes bytes(data);
  std::map<char, LinkId> links;
  while (!bytes.empty() && host.wrong.empty()) {
    const size_t choice = bytes.TakeNumber(1);
    const char sender = kSenders[choice % kSenders.size()];
    std::string message = Message(
        bus, sender, static_cast<BusMessageType>(choice / kSenders.size() % kBusMessageTypes));
    for (size_t changes = bytes.TakeNumber(1) % 8; changes > 0; --changes) {
      const size_t offset = bytes.TakeNumber(2) % message.size();
      const std::string_view piece = bytes.Take(bytes.TakeNumber(1) % 64);
      message.replace(offset, std::min(piece.size(), message.size() - offset),
                      piece.substr(0, message.size() - offset));
    }
    LinkId& link = links[sender];
    if (link == 0) link = bus.Accept("10.0.0.9", "10.0.0.1");
    bus.OnMessage(link, message);
    (void)bus.Settle();
    host.now += 1000;
    bus.Tick();
    for (const LinkId opened : std::exchange(host.opened, {})) {
      bus.OnOpened(opened, "10.0.0.9", "10.0.0.1");
      links[sender] = opened;
    }
    (void)bus.Settle();
    if (host.wrong.empty()) host.wrong = WrongIn(bus.topology());
  }
  return host.wrong;
}

}  // namespace
}  // namespace zsetd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = zsetd::RunMessages({reinterpret_cast<const char*>(data), size});
  if (wrong.empty()) return 0;
  std::cerr << wrong << '\n';
  std::abort();
}
