#include "server/cluster/bus/bus_receiver.h"

#include <algorithm>
#include <optional>

namespace zsetd {
namespace {

constexpr int64_t kMillis = 1000;               // of a second
constexpr int64_t kClockDifference = 500;       // between two nodes
constexpr uint64_t kLongestForgotten = 86'400;  // seconds; a bound for an extension's number

bool IsPingOrMeet(BusMessageType type) {
  return type == BusMessageType::kPing || type == BusMessageType::kMeet;
}

}  // namespace

void BusReceiver::Take(LinkId link_id, std::string_view bytes) {
  const std::optional<BusMessage> message = DecodeBusMessage(bytes);
  if (!message) {
    state_.Log(LogLevel::kDebug, "Ignoring an invalid message of the bus");
    return;
  }
  const BusHeader& header = message->header;
  links_.CountReceived(header.type);
  ClusterNode* sender = state_.topology.Find(header.sender);
  if (sender != nullptr && sender->in_handshake) sender = nullptr;  // a random name
  LinkTable::Link& link = *links_.Find(link_id);
  if (sender != nullptr && sender != &state_.self()) {
    if (link.is_inbound) links_.Identify(link, *sender);
    TakeHeader(*sender, header);
  }
  switch (header.type) {
    case BusMessageType::kPing:
    case BusMessageType::kPong:
    case BusMessageType::kMeet:
      return TakePing(link_id, sender, *message);
    default:
      break;
  }
  if (sender == nullptr || sender == &state_.self()) return;
  switch (header.type) {
    case BusMessageType::kFail:
      if (ClusterNode* failed = state_.topology.Find(message->subject_id)) {
        detector_.AcceptFailure(*failed);
      }
      return;
    case BusMessageType::kPublish:
    case BusMessageType::kPublishShard:
      return state_.host.PublishLocally(message->channel, message->payload,
                                        header.type == BusMessageType::kPublishShard);
    case BusMessageType::kAuthRequest:
      return votes_.TakeRequest(*sender, header);
    case BusMessageType::kAuthAck:
      return failover_.TakeVote(*sender, header);
    case BusMessageType::kUpdate:
      return TakeUpdate(*message);
    case BusMessageType::kManualFailoverStart:
      return failover_.TakeStart(*sender);
    default:
      return;
  }
}

// Each message carries the sender's epochs and offset.
void BusReceiver::TakeHeader(ClusterNode& sender, const BusHeader& header) {
  sender.data_received = state_.Now();
  sender.supports_extensions |= header.reads_extensions;
  if (header.current_epoch > state_.topology.current_epoch) {
    state_.topology.current_epoch = header.current_epoch;
  }
  if (header.config_epoch > sender.config_epoch) {
    state_.topology.RaiseConfigEpoch(sender, header.config_epoch);
    state_.SaveSyncedLater();
  }
  sender.replication_offset = static_cast<int64_t>(header.replication_offset);
  sender.offset_time = state_.Now();
  failover_.TakeMastersOffset(sender, header);
  grants_.TakeClaims(sender, header);
}

void BusReceiver::TakePing(LinkId link_id, ClusterNode* sender, const BusMessage& message) {
  const BusHeader& header = message.header;
  LinkTable::Link* link = links_.Find(link_id);
  ClusterNode& self = state_.self();
  if (IsPingOrMeet(header.type)) {
    const bool shows_own_address = header.type == BusMessageType::kMeet || self.ip.empty();
    if (shows_own_address && state_.settings.announced_ip.empty() && !link->own_ip.empty() &&
        link->own_ip != self.ip) {
      self.ip = link->own_ip;
      state_.Notice("The address of this node is " + self.ip);
      state_.SaveLater();
    }
    if (sender == nullptr && header.type == BusMessageType::kMeet) {
      const std::string& ip = header.ip.empty() ? link->peer_ip : header.ip;
      handshakes_.Start(ip, header.port, header.second_port, header.bus_port,
                        /*sends_meet=*/false);
      state_.SaveLater();
    }
    sender_.SendPing(*link, BusMessageType::kPong);
  }
  if (!link->is_inbound && !TakeAnswer(*link, sender, header)) return;
  if (sender == nullptr || sender == &self) return;

  sender->never_fails_over = (header.flags & kBusNeverFailsOver) != 0;
  if (header.type == BusMessageType::kPing) handshakes_.UpdateAddress(*sender, *link, header);
  TakeRole(*sender, header);
  TakeSlots(*sender, header);
  for (const BusGossip& gossip : message.gossip) TakeGossip(*sender, gossip);
  TakeExtensions(*sender, message.extensions.value_or(BusExtensions()));
}

// A message on a link that this node has opened, so the sender is at the address of the link's
// node. Returns false if it is another one.
bool BusReceiver::TakeAnswer(LinkTable::Link& link, ClusterNode* sender, const BusHeader& header) {
  ClusterNode& node = *link.node;
  if (node.in_handshake) {
    if (!handshakes_.TakeAnswer(link, sender, header)) return false;
  } else if (node.id != header.sender) {
    state_.Notice("The address of node " + NodeText(node) + " belongs to node " + header.sender +
                  " now");
    node.has_no_address = true;
    node.ip.clear();
    handshakes_.SetPorts(node, 0, 0, 0);
    links_.Close(link.id);
    state_.has_changed = true;
    state_.SaveLater();
    return false;
  }
  if (header.type == BusMessageType::kPong) {
    node.pong_received = state_.Now();
    node.ping_sent = 0;
    detector_.Answered(node);
  }
  return true;
}

void BusReceiver::TakeRole(ClusterNode& sender, const BusHeader& header) {
  if (header.master_id.empty()) return roles_.MakeMaster(sender);
  ClusterNode* master = state_.topology.Find(header.master_id);
  if (master == &sender || (master != nullptr && master->in_handshake)) master = nullptr;
  if (sender.IsMaster()) TurnIntoReplica(sender, master, header);
  if (master != nullptr) roles_.MakeReplica(sender, *master);
}

// After a failover in the sender's shard, its new master has the slots, even if its own message is
// still on its way. Otherwise the slots have no owner.
void BusReceiver::TurnIntoReplica(ClusterNode& sender, ClusterNode* master,
                                  const BusHeader& header) {
  const bool is_failover = master != nullptr && master != &state_.self() &&
                           state_.topology.KnownMasterOf(*master) == &sender &&
                           header.config_epoch >= sender.config_epoch;
  if (is_failover) {
    const SlotSet slots = sender.slots;
    roles_.MakeMaster(*master);
    state_.topology.RaiseConfigEpoch(*master, header.config_epoch);
    slots.ForEach([&](size_t slot) { roles_.SetOwner(slot, master); });
  } else {
    roles_.RemoveSlots(sender);
  }
  sender.is_replica = true;
  sender.accepts_replicas = false;
  state_.must_check_state = true;
  state_.SaveLater();
}

void BusReceiver::TakeSlots(ClusterNode& sender, const BusHeader& header) {
  const ClusterNode& master = state_.topology.MasterOf(sender);
  const bool is_changed = master.slots.bytes() != header.slots;
  // A claim of slots that were withdrawn may be repeated, and change nothing else.
  if (sender.IsMaster() && (is_changed || state_.withdrawn_slots.any())) {
    claims_.Take(sender, header.config_epoch, header.slots);
  }
  if (is_changed) claims_.Correct(sender, header.config_epoch, header.slots);
  if (sender.IsMaster() && header.config_epoch == sender.config_epoch) {
    claims_.ResolveCollision(sender);
  }
}

void BusReceiver::TakeGossip(const ClusterNode& sender, const BusGossip& gossip) {
  ClusterNode* node = state_.topology.Find(gossip.id);
  if (node == nullptr) return AddNode(gossip);
  if (node == &state_.self() || node->in_handshake) return;
  const bool is_unreachable = (gossip.flags & (kBusMayHaveFailed | kBusHasFailed)) != 0;
  if (state_.Votes(sender)) {
    is_unreachable ? detector_.TakeReport(*node, sender) : detector_.WithdrawReport(*node, sender);
  }
  if (is_unreachable) return;
  if (!node->IsReachable()) return MoveNode(*node, gossip);
  // Saves a ping to a node that has just answered another one.
  if (node->ping_sent != 0 || detector_.CountReports(*node) > 0) return;
  const int64_t pong = static_cast<int64_t>(gossip.pong_received) * kMillis;
  if (pong <= state_.Now() + kClockDifference && pong > node->pong_received) {
    node->pong_received = pong;
  }
}

// Another node reaches a node that this one does not reach, perhaps at another address.
void BusReceiver::MoveNode(ClusterNode& node, const BusGossip& gossip) {
  if ((gossip.flags & kBusNoAddress) != 0) return;
  handshakes_.SetAddress(node, gossip.ip, gossip.port, gossip.second_port, gossip.bus_port);
}

// The sender is a known node, so the new one is of the same cluster. Its name is used as it is: a
// handshake might find another node at the address.
void BusReceiver::AddNode(const BusGossip& gossip) {
  constexpr uint16_t kUnusable = kBusNoAddress | kBusHandshake;
  if ((gossip.flags & kUnusable) != 0 || gossip.ip.empty()) return;
  if (state_.forgotten_nodes.Contains(gossip.id, state_.Now())) return;
  if (state_.topology.nodes().size() >= kMostClusterNodes) return;
  ClusterNode& node = state_.topology.FindOrAdd(gossip.id);
  node.created = state_.Now();
  node.ip = gossip.ip;
  handshakes_.SetPorts(node, gossip.port, gossip.second_port, gossip.bus_port);
  node.is_replica = (gossip.flags & kBusReplica) != 0;
  node.may_have_failed = (gossip.flags & kBusMayHaveFailed) != 0;
  node.has_failed = (gossip.flags & kBusHasFailed) != 0;
  node.accepts_replicas = (gossip.flags & kBusAcceptsReplicas) != 0;
  node.never_fails_over = (gossip.flags & kBusNeverFailsOver) != 0;
  node.supports_extensions = (gossip.flags & kBusExtensions) != 0;
  state_.has_changed = true;
  state_.SaveLater();
}

void BusReceiver::TakeExtensions(ClusterNode& sender, const BusExtensions& extensions) {
  const std::string hostname = extensions.hostname.value_or("");
  const std::string human_name = extensions.human_name.value_or("");
  const std::string shard_id = extensions.shard_id.value_or(sender.shard_id);
  if (sender.hostname != hostname || sender.human_name != human_name ||
      sender.shard_id != shard_id) {
    sender.hostname = hostname;
    sender.human_name = human_name;
    sender.shard_id = shard_id;
    state_.has_changed = true;
    state_.SaveLater();
  }
  for (const BusForgottenNode& forgotten : extensions.forgotten_nodes) {
    ForgetNode(sender, forgotten);
  }
}

void BusReceiver::ForgetNode(const ClusterNode& sender, const BusForgottenNode& forgotten) {
  ClusterNode* node = state_.topology.Find(forgotten.id);
  const ClusterNode& self = state_.self();
  if (node == nullptr || node == &self || node == &sender) return;
  if (self.is_replica && self.master_id == node->id) return;
  const auto seconds = static_cast<int64_t>(std::min(forgotten.seconds, kLongestForgotten));
  state_.forgotten_nodes.Add(node->id, state_.Now() + seconds * kMillis);
  state_.Notice("Forgetting node " + NodeText(*node) + ", as node " + NodeText(sender) + " does");
  roles_.Remove(*node);
}

void BusReceiver::TakeUpdate(const BusMessage& message) {
  ClusterNode* owner = state_.topology.Find(message.subject_id);
  if (owner == nullptr || owner == &state_.self()) return;
  if (owner->config_epoch >= message.subject_epoch) return;
  roles_.MakeMaster(*owner);
  state_.topology.RaiseConfigEpoch(*owner, message.subject_epoch);
  state_.SaveSyncedLater();
  claims_.Take(*owner, message.subject_epoch, message.subject_slots);
}

}  // namespace zsetd
