#include "server/cluster/bus/bus_sender.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

constexpr int64_t kMillisOfSecond = 1000;

// The first port of a message is the one that the bus's own kind of connection would use.
uint16_t FirstPort(const ClusterNode& node, bool uses_tls) {
  return static_cast<uint16_t>(uses_tls ? node.tls_port : node.port);
}

uint16_t SecondPort(const ClusterNode& node, bool uses_tls) {
  return static_cast<uint16_t>(uses_tls ? node.port : node.tls_port);
}

bool TakesPart(const ClusterNode& node) { return !node.in_handshake && !node.has_no_address; }

}  // namespace

uint16_t BusFlagsOf(const ClusterNode& node) {
  const std::pair<bool, uint16_t> flags[] = {
      {!node.is_replica, kBusMaster},
      {node.is_replica, kBusReplica},
      {node.may_have_failed, kBusMayHaveFailed},
      {node.has_failed, kBusHasFailed},
      {node.has_no_address, kBusNoAddress},
      {node.accepts_replicas, kBusAcceptsReplicas},
      {node.never_fails_over, kBusNeverFailsOver},
      {node.supports_extensions, kBusExtensions},
  };
  uint16_t all = 0;
  for (const auto& [is_set, flag] : flags) all |= is_set ? flag : 0;
  return all;
}

BusHeader BusSender::Header(BusMessageType type) const {
  const BusSettings& settings = state_.settings;
  const ClusterNode& self = state_.self();
  const ClusterNode& master = state_.topology.MasterOf(self);
  BusHeader header;
  header.type = type;
  header.sender = self.id;
  header.master_id = self.master_id;
  header.current_epoch = state_.topology.current_epoch;
  header.config_epoch = master.config_epoch;
  header.replication_offset = static_cast<uint64_t>(state_.host.ReplicationOffset());
  header.slots = master.slots.bytes();
  header.ip = settings.announced_ip;
  header.port = FirstPort(self, settings.uses_tls);
  header.second_port = SecondPort(self, settings.uses_tls);
  header.bus_port = static_cast<uint16_t>(self.bus_port);
  header.flags = BusFlagsOf(self) | kBusMyself;
  header.is_up = state_.is_up;
  header.has_paused_clients =
      self.IsMaster() && state_.manual_failover.deadline != 0 && state_.host.AreWritesStopped();
  return header;
}

BusGossip BusSender::GossipAbout(const ClusterNode& node) const {
  return {.id = node.id,
          .ping_sent = static_cast<uint32_t>(node.ping_sent / kMillisOfSecond),
          .pong_received = static_cast<uint32_t>(node.pong_received / kMillisOfSecond),
          .ip = node.ip,
          .port = FirstPort(node, state_.settings.uses_tls),
          .second_port = SecondPort(node, state_.settings.uses_tls),
          .bus_port = static_cast<uint16_t>(node.bus_port),
          .flags = BusFlagsOf(node)};
}

// A node that this one neither reaches nor knows as the owner of slots is no subject of gossip:
// otherwise nodes would remind each other for ever of a node that has left.
std::vector<BusGossip> BusSender::ChooseGossip(const ClusterNode* receiver) const {
  constexpr size_t kLeast = 3;
  constexpr size_t kShare = 10;
  std::vector<const ClusterNode*> candidates;
  std::vector<BusGossip> gossip;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (node.get() == &state_.self() || !TakesPart(*node)) continue;
    if (node->may_have_failed) {
      gossip.push_back(GossipAbout(*node));
    } else if (node.get() != receiver && (node->link != 0 || node->HasSlots())) {
      candidates.push_back(node.get());
    }
  }
  const size_t wanted = std::max(kLeast, state_.topology.nodes().size() / kShare);
  for (size_t taken = 0; taken < std::min(wanted, candidates.size()); ++taken) {
    const size_t other = taken + state_.rng.Below(candidates.size() - taken);
    std::swap(candidates[taken], candidates[other]);
    gossip.push_back(GossipAbout(*candidates[taken]));
  }
  return gossip;
}

BusExtensions BusSender::Extensions() const {
  const ClusterNode& self = state_.self();
  BusExtensions extensions;
  if (!self.hostname.empty()) extensions.hostname = self.hostname;
  if (!self.human_name.empty()) extensions.human_name = self.human_name;
  extensions.shard_id = state_.topology.ShardIdOf(self);
  const int64_t now = state_.Now();
  const ForgottenNodes::ByEnd& forgotten = state_.forgotten_nodes.by_end();
  for (auto last = forgotten.rbegin(); last != forgotten.rend() && last->first > now; ++last) {
    const auto seconds = static_cast<uint64_t>((last->first - now) / kMillisOfSecond);
    extensions.forgotten_nodes.push_back({last->second, seconds});
  }
  return extensions;
}

// Redis 7.0 and later read extensions. A node finds that out by the flag that all their pings have.
void BusSender::SendPing(const LinkTable::Link& link, BusMessageType type) {
  BusMessage message;
  message.header = Header(type);
  message.header.reads_extensions = true;
  message.gossip = ChooseGossip(link.node);
  if (link.node != nullptr && link.node->supports_extensions) message.extensions = Extensions();
  const bool expects_pong = type == BusMessageType::kPing && link.node != nullptr;
  if (expects_pong) link.node->ping_sent = state_.Now();
  links_.Send(link.id, type, EncodeBusMessage(message));
}

void BusSender::SendPing(ClusterNode& node) {
  if (const LinkTable::Link* link = links_.Find(node.link)) SendPing(*link, BusMessageType::kPing);
}

void BusSender::BroadcastPong(Audience audience) {
  const ClusterNode& self = state_.self();
  const std::string& own_master = self.is_replica ? self.master_id : self.id;
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (node.get() == &self || !TakesPart(*node)) continue;
    const bool is_of_own_shard = node->is_replica && node->master_id == own_master;
    if (audience == Audience::kReplicasOfOwnShard && !is_of_own_shard) continue;
    const LinkTable::Link* link = links_.Find(node->link);
    if (link != nullptr) SendPing(*link, BusMessageType::kPong);
  }
}

void BusSender::SendPlain(const ClusterNode& node, BusMessageType type) {
  BusMessage message;
  message.header = Header(type);
  links_.Send(node.link, type, EncodeBusMessage(message));
}

void BusSender::Broadcast(const BusMessage& message) {
  const std::string bytes = EncodeBusMessage(message);
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (node.get() == &state_.self() || node->in_handshake) continue;
    links_.Send(node->link, message.header.type, bytes);
  }
}

// A master whose administrator has agreed has not failed, so its voters need the flag.
void BusSender::RequestVotes() {
  BusMessage message;
  message.header = Header(BusMessageType::kAuthRequest);
  message.header.forces_vote = state_.manual_failover.deadline != 0;
  Broadcast(message);
}

void BusSender::BroadcastFailure(const ClusterNode& failed) {
  BusMessage message;
  message.header = Header(BusMessageType::kFail);
  message.subject_id = failed.id;
  Broadcast(message);
}

void BusSender::SendUpdate(const ClusterNode& receiver, const ClusterNode& owner) {
  BusMessage message;
  message.header = Header(BusMessageType::kUpdate);
  message.subject_id = owner.id;
  message.subject_epoch = owner.config_epoch;
  message.subject_slots = owner.slots.bytes();
  links_.Send(receiver.link, BusMessageType::kUpdate, EncodeBusMessage(message));
}

void BusSender::Publish(std::string_view channel, std::string_view payload, bool is_shard_channel) {
  BusMessage message;
  message.header =
      Header(is_shard_channel ? BusMessageType::kPublishShard : BusMessageType::kPublish);
  message.channel = channel;
  message.payload = payload;
  if (!is_shard_channel) return Broadcast(message);
  const std::string bytes = EncodeBusMessage(message);
  const ClusterNode& master = state_.topology.MasterOf(state_.self());
  for (const auto& [id, node] : state_.topology.nodes()) {
    if (node.get() == &state_.self() || &state_.topology.MasterOf(*node) != &master) continue;
    links_.Send(node->link, message.header.type, bytes);
  }
}

}  // namespace zsetd
