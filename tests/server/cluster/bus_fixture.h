#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/util/rng.h"
#include "server/cluster/bus/bus_host.h"
#include "server/cluster/bus/cluster_bus.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/nodes_text.h"
#include "tests/server/cluster/bus_messages.h"

namespace zsetd {

// Records the outputs of a bus. The clock moves only by the test.
struct FakeHost : BusHost {
  int64_t Now() const override { return now; }
  int64_t ReplicationOffset() const override { return offset; }
  bool IsLinkedToMaster() const override { return is_linked; }
  int64_t DataAge() const override { return data_age; }
  bool FollowsMaster() const override { return !followed_id.empty(); }
  bool HasKeysIn(size_t slot) const override { return slot == slot_with_keys; }
  void OpenLink(LinkId link, const std::string& ip, int64_t port) override {
    opened.emplace_back(link, ip + ":" + std::to_string(port));
  }
  void CloseLink(LinkId link) override { closed.push_back(link); }
  void Send(LinkId link, std::string_view bytes) override;
  absl::Status Save(bool is_synced) override;
  void TopologyChanged() override { ++changes; }
  void FollowMaster(const ClusterNode& master) override { followed_id = master.id; }
  void BecomeMaster() override { followed_id.clear(); }
  void DeleteAllKeys() override { events.push_back("delete all"); }
  void DeleteKeysIn(size_t slot) override {
    events.push_back("delete slot " + std::to_string(slot));
  }
  void PauseWrites() override { is_paused = true; }
  void ResumeWrites() override { is_paused = false; }
  bool AreWritesStopped() const override { return are_writes_stopped; }
  void PublishLocally(std::string_view channel, std::string_view payload, bool) override {
    events.push_back("publish " + std::string(channel) + " " + std::string(payload));
  }
  void Log(LogLevel, std::string_view line) override { lines.emplace_back(line); }

  ClusterBus* bus = nullptr;
  int64_t now = 1'700'000'000'000;
  int64_t offset = 100;
  int64_t data_age = 0;
  size_t slot_with_keys = kSlotCount;
  bool disk_works = true;
  std::string disk;
  std::string followed_id;
  bool is_linked = true;
  bool is_paused = false;
  bool are_writes_stopped = true;
  int changes = 0;
  std::vector<std::pair<LinkId, std::string>> opened;
  std::vector<LinkId> closed;
  std::vector<std::pair<LinkId, BusMessage>> sent;
  std::vector<std::string> events;
  std::vector<std::string> lines;
};

// A bus and the messages of the other nodes.
class BusFixture : public testing::Test {
 protected:
  // Starts this node with the text of nodes.conf.
  void Start(const std::string& nodes);

  // Opens the links that the bus asks for.
  void Connect();

  // A message of a node, with what it states about itself by default.
  BusMessage From(char id, BusMessageType type) { return MessageFrom(*bus, id, type); }

  // The message arrives on a link that its sender has opened.
  void Deliver(const BusMessage& message);

  // Node `from` reports the flags of another one.
  void Gossip(char from, char about, uint16_t flags);

  const ClusterNode& Node(char id) { return *bus->topology().Find(IdOf(id)); }
  bool Knows(char id) { return bus->topology().Find(IdOf(id)) != nullptr; }
  bool WasSent(BusMessageType type) const;

  // Time passes with ticks, and all nodes answer except the silent ones.
  void Pass(int64_t millis, std::string_view silent = "");

  FakeHost host;
  Rng rng{1};
  std::unique_ptr<ClusterBus> bus;
  std::map<char, LinkId> links_;

 private:
  std::map<std::string, LinkId> LinkIds() const;
};

}  // namespace zsetd
