#include "tests/server/cluster/simulated_cluster.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/nodes_text.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr int64_t kTick = 100;
constexpr int64_t kLeastDelay = 1;
constexpr uint64_t kDelayRange = 4;
constexpr uint64_t kLateRange = 400;
constexpr uint64_t kThousand = 1000;
constexpr size_t kLogLines = 40;

std::string RandomNodeId(Rng& rng) {
  std::string id(kNodeIdLength, '0');
  for (char& digit : id) digit = "0123456789abcdef"[rng.Below(16)];
  return id;
}

}  // namespace

struct SimulatedCluster::Link {
  size_t opener = 0;
  size_t acceptor = 0;
  LinkId opener_id = 0;
  LinkId acceptor_id = 0;  // 0: not accepted yet
  bool is_open = true;
  int64_t last_arrival[2] = {0, 0};  // at the acceptor, and at the opener
};

class SimulatedCluster::Node : public BusHost {
 public:
  Node(SimulatedCluster& cluster, size_t index) : cluster_(cluster), index_(index) {}

  int64_t Now() const override { return cluster_.now_; }
  int64_t ReplicationOffset() const override { return offset; }
  bool IsLinkedToMaster() const override { return true; }
  int64_t DataAge() const override { return cluster_.now_ - last_data; }
  bool FollowsMaster() const override { return !followed_id.empty(); }
  bool HasKeysIn(size_t) const override { return false; }
  void OpenLink(LinkId link, const std::string& to, int64_t) override {
    cluster_.Open(*this, link, to);
  }
  void CloseLink(LinkId link) override { cluster_.Close(*this, link); }
  void Send(LinkId link, std::string_view bytes) override { cluster_.Transmit(*this, link, bytes); }
  absl::Status Save(bool is_synced) override {
    const uint64_t unsaved = cluster_.troubles.unsaved;
    if (unsaved != 0 && cluster_.rng_.Below(kThousand) < unsaved) {
      return Refusal("the disk is full");
    }
    disk = NodesFileText(bus->topology());
    if (is_synced) synced_disk = disk;
    const bool is_vote = bus->topology().last_vote_epoch > saved_vote_epoch;
    saved_vote_epoch = bus->topology().last_vote_epoch;
    if (is_vote && crashes_after_vote) is_muted = true;
    return absl::OkStatus();
  }
  void TopologyChanged() override {}
  void FollowMaster(const ClusterNode& master) override { followed_id = master.id; }
  void BecomeMaster() override { followed_id.clear(); }
  void DeleteAllKeys() override { offset = 0; }
  void DeleteKeysIn(size_t) override {}
  void PauseWrites() override { is_paused = true; }
  void ResumeWrites() override { is_paused = false; }
  bool AreWritesStopped() const override { return true; }
  void PublishLocally(std::string_view channel, std::string_view payload, bool is_shard) override {
    publications.push_back((is_shard ? "shard " : "") + std::string(channel) + " " +
                           std::string(payload));
  }
  void Log(LogLevel, std::string_view line) override {
    lines.push_back(std::to_string(cluster_.now_ % 10'000'000) + " " + std::string(line));
    if (lines.size() > kLogLines) lines.pop_front();
  }

  size_t index() const { return index_; }

  std::unique_ptr<ClusterBus> bus;  // null: crashed
  std::string disk;                 // nodes.conf
  std::string synced_disk;          // after a power failure
  std::string ip;
  std::string followed_id;
  int64_t offset = 0;
  int64_t last_data = 0;
  bool is_paused = false;
  uint64_t saved_vote_epoch = 0;
  uint64_t life = 0;
  mutable std::pair<uint64_t, size_t> checked_claim;  // epoch and number of slots
  bool crashes_after_vote = false;
  bool is_muted = false;  // has crashed, and the present event only has to end
  std::map<LinkId, std::shared_ptr<Link>> links;
  std::vector<std::string> publications;
  std::deque<std::string> lines;

 private:
  SimulatedCluster& cluster_;
  const size_t index_;
};

SimulatedCluster::SimulatedCluster(size_t nodes, uint64_t seed, const BusSettings& settings)
    : rng_(seed), settings_(settings), group_of_node_(nodes, 0) {
  for (size_t index = 0; index < nodes; ++index) {
    nodes_.push_back(std::make_unique<Node>(*this, index));
    Node& node = *nodes_.back();
    node.ip = "10.0." + std::to_string(index / 200) + "." + std::to_string(index % 200 + 1);
    node.disk = node.synced_disk = NodesFileText(Topology(RandomNodeId(rng_)));
    Restart(index);
  }
}

SimulatedCluster::~SimulatedCluster() = default;

ClusterBus& SimulatedCluster::bus(size_t node) { return *nodes_[node]->bus; }
bool SimulatedCluster::IsRunning(size_t node) const { return nodes_[node]->bus != nullptr; }
bool SimulatedCluster::WritesArePaused(size_t node) const { return nodes_[node]->is_paused; }
int64_t SimulatedCluster::OffsetOf(size_t node) const { return nodes_[node]->offset; }
void SimulatedCluster::CrashAfterVote(size_t node) { nodes_[node]->crashes_after_vote = true; }
void SimulatedCluster::Move(size_t node, const std::string& ip) { nodes_[node]->ip = ip; }
std::vector<std::string> SimulatedCluster::PublicationsOf(size_t node) const {
  return nodes_[node]->publications;
}

std::string SimulatedCluster::LogOf(size_t node) const {
  std::string text;
  for (const std::string& line : nodes_[node]->lines) text += line + "\n";
  return text;
}

void SimulatedCluster::Create(size_t masters) {
  for (size_t index = 0; index < masters; ++index) {
    ClusterBus& master = bus(index);
    const size_t first = kSlotCount * index / masters;
    const size_t end = kSlotCount * (index + 1) / masters;
    master.SetConfigEpoch(index + 1);
    for (size_t slot = first; slot < end; ++slot) master.SetOwner(slot, &master.topology().self());
    (void)master.Settle();
  }
  for (size_t index = 1; index < size(); ++index) {
    (void)bus(index).Meet(nodes_[0]->ip, 6379, 16379);
  }
  RunUntil(
      [&] {
        return std::ranges::all_of(nodes_, [&](const auto& node) {
          const auto& known = node->bus->topology().nodes();
          return known.size() == size() && std::ranges::none_of(known, [](const auto& entry) {
                   return entry.second->in_handshake;
                 });
        });
      },
      60'000);
  for (size_t index = masters; index < size(); ++index) {
    const std::string master_id = bus(index % masters).topology().self().id;
    const ClusterNode* master = bus(index).topology().Find(master_id);
    if (master == nullptr) continue;
    bus(index).Replicate(*master);
    (void)bus(index).Settle();
  }
}

void SimulatedCluster::Schedule(int64_t delay, Event event) {
  events_.emplace(std::pair(now_ + delay, ++sequence_), std::move(event));
}

void SimulatedCluster::Step() {
  auto first = events_.extract(events_.begin());
  now_ = first.key().first;
  ++steps_;
  first.mapped()();
}

void SimulatedCluster::RunFor(int64_t millis) {
  const int64_t end = now_ + millis;
  while (!events_.empty() && events_.begin()->first.first <= end) Step();
  now_ = end;
}

bool SimulatedCluster::RunUntil(const std::function<bool()>& condition, int64_t most_millis) {
  const int64_t end = now_ + most_millis;
  while (now_ < end) {
    if (condition()) return true;
    RunFor(std::min<int64_t>(kTick * 2, end - now_));
  }
  return condition();
}

void SimulatedCluster::Restart(size_t index) {
  Node& node = *nodes_[index];
  BusSettings settings = settings_;
  settings.port = 6379;
  settings.bus_port = 16379;
  node.is_muted = node.crashes_after_vote = false;
  node.followed_id.clear();
  node.last_data = now_;
  node.is_paused = false;
  node.bus = std::make_unique<ClusterBus>(*ReadNodesText(node.disk), node, rng_, settings);
  node.saved_vote_epoch = node.bus->topology().last_vote_epoch;
  const uint64_t life = ++node.life;
  Schedule(static_cast<int64_t>(rng_.Below(kTick)), [this, index, life] { Tick(index, life); });
}

void SimulatedCluster::CloseAllOf(Node& node) {
  const auto links = std::exchange(node.links, {});
  for (const auto& [id, link] : links) {
    if (!std::exchange(link->is_open, false)) continue;
    const bool is_opener = link->opener == node.index();
    Node& peer = *nodes_[is_opener ? link->acceptor : link->opener];
    const LinkId peer_id = is_opener ? link->acceptor_id : link->opener_id;
    if (peer_id == 0) continue;
    const uint64_t life = peer.life;
    Schedule(kLeastDelay, [&peer, peer_id, life] {
      if (peer.life != life || peer.bus == nullptr || peer.links.erase(peer_id) == 0) return;
      peer.bus->OnClosed(peer_id);
      (void)peer.bus->Settle();
    });
  }
}

void SimulatedCluster::Crash(size_t index) {
  Node& node = *nodes_[index];
  if (node.bus == nullptr) return;
  CloseAllOf(node);
  node.bus.reset();
  ++node.life;
  const bool is_power_failure = rng_.Below(2) == 0;
  if (is_power_failure) node.disk = node.synced_disk;
}

void SimulatedCluster::Partition(const std::vector<size_t>& group_of_node) {
  group_of_node_ = group_of_node;
}

void SimulatedCluster::Heal() { group_of_node_.assign(size(), 0); }

bool SimulatedCluster::Reaches(size_t from, size_t to) const {
  return group_of_node_[from] == group_of_node_[to] && IsRunning(to) && IsRunning(from);
}

void SimulatedCluster::Open(Node& from, LinkId id, const std::string& ip) {
  const auto found = std::ranges::find_if(nodes_, [&](const auto& node) { return node->ip == ip; });
  const uint64_t life = from.life;
  if (found == nodes_.end() || !IsRunning((*found)->index())) {
    Schedule(kLeastDelay, [&from, id, life] {
      if (from.life == life && from.bus != nullptr) from.bus->OnClosed(id);
    });
    return;
  }
  Node& to = **found;
  if (group_of_node_[from.index()] != group_of_node_[to.index()]) return;  // no answer
  auto link = std::make_shared<Link>();
  link->opener = from.index();
  link->acceptor = to.index();
  link->opener_id = id;
  from.links[id] = link;
  Schedule(kLeastDelay, [this, &from, &to, link, life] {
    if (!link->is_open || from.life != life || !Reaches(from.index(), to.index())) return;
    link->acceptor_id = to.bus->Accept(from.ip, to.ip);
    to.links[link->acceptor_id] = link;
    from.bus->OnOpened(link->opener_id, to.ip, from.ip);
    (void)from.bus->Settle();
  });
}

void SimulatedCluster::Close(Node& node, LinkId id) {
  const auto found = node.links.find(id);
  if (found == node.links.end()) return;
  const std::shared_ptr<Link> link = found->second;
  node.links.erase(found);
  if (!std::exchange(link->is_open, false)) return;
  const bool is_opener = link->opener == node.index();
  Node& peer = *nodes_[is_opener ? link->acceptor : link->opener];
  const LinkId peer_id = is_opener ? link->acceptor_id : link->opener_id;
  const uint64_t life = peer.life;
  Schedule(kLeastDelay, [&peer, peer_id, life] {
    if (peer.life != life || peer.bus == nullptr || peer.links.erase(peer_id) == 0) return;
    peer.bus->OnClosed(peer_id);
    (void)peer.bus->Settle();
  });
}

void SimulatedCluster::Transmit(Node& from, LinkId id, std::string_view bytes) {
  if (from.is_muted) return;
  const auto found = from.links.find(id);
  if (found == from.links.end() || !found->second->is_open) return;
  const std::shared_ptr<Link> link = found->second;
  CheckVote(from, bytes, *link);
  if (rng_.Below(kThousand) < troubles.lost) return;
  const int copies = rng_.Below(kThousand) < troubles.duplicated ? 2 : 1;
  const bool to_opener = link->opener != from.index();
  for (int copy = 0; copy < copies; ++copy) {
    int64_t arrival = now_ + kLeastDelay + static_cast<int64_t>(rng_.Below(kDelayRange));
    if (rng_.Below(kThousand) < troubles.late) {
      arrival += static_cast<int64_t>(rng_.Below(kLateRange));
    } else {
      int64_t& last = link->last_arrival[to_opener ? 1 : 0];
      arrival = last = std::max(arrival, last);
    }
    Schedule(arrival - now_, [this, link, to_opener, text = std::string(bytes)] {
      Deliver(link, to_opener, text);
    });
  }
}

void SimulatedCluster::Deliver(const std::shared_ptr<Link>& link, bool to_opener,
                               const std::string& bytes) {
  const size_t from = to_opener ? link->acceptor : link->opener;
  const size_t to = to_opener ? link->opener : link->acceptor;
  if (!link->is_open || !Reaches(from, to)) return;
  Node& node = *nodes_[to];
  node.bus->OnMessage(to_opener ? link->opener_id : link->acceptor_id, bytes);
  (void)node.bus->Settle();
  CheckClaims(node);
  if (node.is_muted) Crash(to);
}

void SimulatedCluster::Tick(size_t index, uint64_t life) {
  Node& node = *nodes_[index];
  if (node.life != life || node.bus == nullptr) return;
  Replicate(node);
  node.bus->Tick();
  (void)node.bus->Settle();
  CheckClaims(node);
  if (node.is_muted) return Crash(index);
  Schedule(kTick, [this, index, life] { Tick(index, life); });
}

void SimulatedCluster::Replicate(Node& node) {
  if (node.followed_id.empty()) {
    node.last_data = now_;
    if (!node.is_paused) node.offset += static_cast<int64_t>(rng_.Below(50));
    return;
  }
  for (const auto& master : nodes_) {
    if (!IsRunning(master->index()) || master->bus->topology().self().id != node.followed_id)
      continue;
    if (!Reaches(node.index(), master->index())) continue;
    node.offset = master->offset;
    node.last_data = now_;
  }
}

// Slots that the nodes got together stay together, so the first slot of each range stands for it.
void SimulatedCluster::CheckClaims(const Node& node) {
  const ClusterNode& self = node.bus->topology().self();
  const auto claim_of_node = std::pair(self.config_epoch, self.slots.size());
  if (self.is_replica || node.checked_claim == claim_of_node) return;
  node.checked_claim = claim_of_node;
  for (size_t index = 0; index < size(); ++index) {
    const size_t slot = kSlotCount * index / size();
    if (!self.slots.Contains(slot)) continue;
    const auto [claim, is_new] =
        owner_of_claim_.emplace(std::pair(slot, self.config_epoch), self.id);
    if (is_new || claim->second == self.id) continue;
    violations_.push_back("slot " + std::to_string(slot) + " in epoch " +
                          std::to_string(self.config_epoch) + " belongs to " + claim->second +
                          " and " + self.id);
  }
}

void SimulatedCluster::CheckVote(const Node& voter, std::string_view bytes, const Link& link) {
  constexpr size_t kTypeOffset = 13;
  if (bytes[kTypeOffset] != static_cast<char>(BusMessageType::kAuthAck)) return;
  const auto message = DecodeBusMessage(bytes);
  ++votes_;
  const std::string candidate = nodes_[link.acceptor]->ip;
  const auto [vote, is_new] = candidate_of_vote_.emplace(
      std::pair(voter.index(), message->header.current_epoch), candidate);
  if (is_new) return;
  violations_.push_back("node " + std::to_string(voter.index()) + " voted twice in epoch " +
                        std::to_string(message->header.current_epoch));
}

std::optional<size_t> SimulatedCluster::OwnerOf(size_t slot) const {
  std::optional<size_t> owner;
  uint64_t epoch = 0;
  for (const auto& node : nodes_) {
    if (node->bus == nullptr) continue;
    const ClusterNode& self = node->bus->topology().self();
    if (self.is_replica || !self.slots.Contains(slot)) continue;
    if (owner && self.config_epoch <= epoch) continue;
    owner = node->index();
    epoch = self.config_epoch;
  }
  return owner;
}

size_t SimulatedCluster::IndexOf(std::string_view id) const {
  for (const auto& node : nodes_) {
    if (node->bus != nullptr && node->bus->topology().self().id == id) return node->index();
  }
  return size();
}

bool SimulatedCluster::HasConverged() const { return Difference().empty(); }

std::string SimulatedCluster::Difference() const {
  std::map<std::string, const ClusterNode*, std::less<>> truth;
  for (const auto& node : nodes_) {
    if (node->bus != nullptr)
      truth[node->bus->topology().self().id] = &node->bus->topology().self();
  }
  for (const auto& observer : nodes_) {
    if (observer->bus == nullptr) continue;
    const std::string name = "node " + std::to_string(observer->index());
    if (!observer->bus->IsUp()) return name + " considers the cluster down";
    for (const auto& [id, self] : truth) {
      const ClusterNode* known = observer->bus->topology().Find(id);
      const std::string other = name + " about node " + std::to_string(IndexOf(id)) + ": ";
      if (known == nullptr) return other + "unknown";
      if (known->is_replica != self->is_replica) return other + "wrong role";
      if (known->master_id != self->master_id) return other + "wrong master";
      if (!known->IsReachable()) return other + "failed";
      if (!(known->slots == self->slots)) return other + "wrong slots";
      if (!known->is_replica && known->config_epoch != self->config_epoch)
        return other + "wrong epoch";
    }
  }
  return "";
}

}  // namespace zsetd
