#include "server/cluster/topology/nodes_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/port_limit.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr int64_t kBusPortDistance = 10000;
constexpr int64_t kLongestGrant = int64_t{1} << 40;  // milliseconds; a sum with a time is valid
constexpr size_t kMostAddressBytes = 45;             // of an IPv6 address, as in Redis
constexpr size_t kMostHostnameBytes = 255;           // as in Redis

struct FlagName {
  bool ClusterNode::*field;
  std::string_view name;
};

constexpr std::array<FlagName, 6> kFlags = {{
    {&ClusterNode::is_replica, "slave"},
    {&ClusterNode::may_have_failed, "fail?"},
    {&ClusterNode::has_failed, "fail"},
    {&ClusterNode::in_handshake, "handshake"},
    {&ClusterNode::has_no_address, "noaddr"},
    {&ClusterNode::never_fails_over, "nofailover"},
}};

// As in Redis, a link that is being opened counts.
bool IsConnected(const Topology& topology, const ClusterNode& node) {
  return &node == &topology.self() || node.link != 0;
}

std::string FlagsText(const Topology& topology, const ClusterNode& node) {
  std::string text = &node == &topology.self() ? "myself," : "";
  if (!node.is_replica) text += "master,";
  for (const FlagName& flag : kFlags) {
    const bool is_suspected_only = flag.field != &ClusterNode::may_have_failed || !node.has_failed;
    if (node.*flag.field && is_suspected_only) text.append(flag.name).append(",");
  }
  text.pop_back();
  return text;
}

// The variable with its value; empty without slots.
std::string SlotSetText(std::string_view name, const SlotSet& slots) {
  std::string text;
  for (const SlotRange range : RangesOf(slots)) {
    text.append(text.empty() ? name : ",");
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

// Reads lines into a topology.
class NodesReader {
 public:
  absl::StatusOr<Topology> Read(std::string_view text);

 private:
  using Words = std::vector<std::string_view>;

  absl::Status ReadLine(const Words& words);
  absl::Status ReadVariables(const Words& words);
  absl::Status ReadNode(const Words& words);
  absl::Status ReadAddress(std::string_view word, ClusterNode& node) const;
  static absl::Status ReadAuxiliary(std::string_view word, ClusterNode& node);
  absl::Status ReadFlags(std::string_view word, ClusterNode& node);
  absl::Status ReadMaster(std::string_view word, ClusterNode& node);
  absl::Status ReadSlots(std::string_view word, ClusterNode& node);
  static absl::Status ReadSlotSet(std::string_view word, SlotSet& slots);
  absl::Status ReadMove(std::string_view word, ClusterNode& node);
  absl::StatusOr<ClusterNode*> NodeOf(std::string_view id);

  struct Move {
    uint16_t slot;
    bool is_import;
    std::string other_id;
  };

  // A node with a name that no line may have stands for this node until its line is read.
  const std::string placeholder_id_ = std::string(kNodeIdLength, '0');
  Topology topology_{placeholder_id_};
  SlotGrant grant_;  // epoch 0: none
  std::vector<Move> moves_;
  bool has_self_ = false;
};

std::optional<int64_t> NumberIn(std::string_view word, int64_t min, int64_t max) {
  const std::optional<int64_t> number = ParseInteger(word);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

// "5" or "0-4".
std::optional<SlotRange> RangeIn(std::string_view word) {
  const size_t dash = word.find('-');
  const auto first = NumberIn(word.substr(0, dash), 0, kSlotCount - 1);
  const auto last =
      dash == std::string_view::npos ? first : NumberIn(word.substr(dash + 1), 0, kSlotCount - 1);
  if (!first || !last || *first > *last) return std::nullopt;
  return SlotRange{static_cast<uint16_t>(*first), static_cast<uint16_t>(*last)};
}

absl::StatusOr<Topology> NodesReader::Read(std::string_view text) {
  ClusterNode* const placeholder = &topology_.self();
  size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    Words words = Split(line, ' ');
    std::erase(words, std::string_view());
    if (words.empty()) continue;
    if (absl::Status read = ReadLine(words); !read.ok()) {
      return Refusal("line " + std::to_string(line_number) + ": " + std::string(ErrorLine(read)));
    }
  }
  if (!has_self_) return Refusal("no node has the flag myself");
  topology_.Remove(*placeholder);
  const ClusterNode& self = topology_.self();
  for (const Move& move : moves_) {
    if (move.other_id == self.id)
      continue;  // redis-server accepts such a move, which means nothing
    const ClusterNode& other = topology_.FindOrAdd(move.other_id);
    const bool is_own = topology_.OwnerOf(move.slot) == &self;
    if (is_own == move.is_import) {
      return Refusal("slot " + std::to_string(move.slot) + " cannot move as stated");
    }
    move.is_import ? topology_.StartImporting(move.slot, other)
                   : topology_.StartMigrating(move.slot, other);
  }
  topology_.current_epoch = topology_.GreatestConfigEpoch();
  if (grant_.epoch != 0) {
    if (grant_.target_id.empty()) return Refusal("grantedEpoch needs grantedTo");
    topology_.grant = grant_;
  }
  return std::move(topology_);
}

absl::Status NodesReader::ReadLine(const Words& words) {
  return words[0] == "vars" ? ReadVariables(words) : ReadNode(words);
}

absl::Status NodesReader::ReadVariables(const Words& words) {
  for (size_t at = 1; at + 1 < words.size(); at += 2) {
    const bool is_cleared = words[at] == "slotsToClear";
    if (is_cleared || words[at] == "grantedSlots") {
      SlotSet& slots = is_cleared ? topology_.slots_to_clear : grant_.slots;
      if (absl::Status read = ReadSlotSet(words[at + 1], slots); !read.ok()) return read;
      continue;
    }
    if (words[at] == "grantedTo") {
      if (!IsNodeId(words[at + 1])) return Refusal("'grantedTo' needs the name of a node");
      grant_.target_id = words[at + 1];
      continue;
    }
    const bool is_limited = words[at] == "grantedEpoch";
    const int64_t most = is_limited ? static_cast<int64_t>(kMostStatedEpoch) : INT64_MAX;
    const auto number = NumberIn(words[at + 1], 0, most);
    if (!number) return Refusal("'" + std::string(words[at]) + "' needs a number");
    if (words[at] == "currentEpoch") topology_.current_epoch = static_cast<uint64_t>(*number);
    if (words[at] == "lastVoteEpoch") topology_.last_vote_epoch = static_cast<uint64_t>(*number);
    if (words[at] == "grantedEpoch") grant_.epoch = static_cast<uint64_t>(*number);
    if (words[at] == "grantedMillis") grant_.millis = std::min(*number, kLongestGrant);
  }
  return words.size() % 2 == 1 ? absl::OkStatus() : Refusal("a variable has no value");
}

absl::Status NodesReader::ReadSlotSet(std::string_view word, SlotSet& slots) {
  for (const std::string_view part : Split(word, ',')) {
    const auto range = RangeIn(part);
    if (!range) return Refusal("'" + std::string(part) + "' is no range of slots");
    for (size_t slot = range->first; slot <= range->last; ++slot) {
      slots.Insert(slot);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ClusterNode*> NodesReader::NodeOf(std::string_view id) {
  if (!IsNodeId(id) || id == placeholder_id_)
    return Refusal("a node's name needs 40 hexadecimal digits, not only zeros");
  if (topology_.nodes().size() > kMostClusterNodes) return Refusal("there are too many nodes");
  return &topology_.FindOrAdd(id);
}

absl::Status NodesReader::ReadNode(const Words& words) {
  constexpr size_t kFixedWords = 8;
  if (words.size() < kFixedWords) return Refusal("a node's line needs 8 words at least");
  const absl::StatusOr<ClusterNode*> found = NodeOf(words[0]);
  if (!found.ok()) return found.status();
  ClusterNode& node = **found;
  if (absl::Status read = ReadFlags(words[2], node); !read.ok()) return read;
  if (absl::Status read = ReadAddress(words[1], node); !read.ok()) return read;
  if (absl::Status read = ReadMaster(words[3], node); !read.ok()) return read;
  const auto ping = NumberIn(words[4], 0, INT64_MAX);
  const auto pong = NumberIn(words[5], 0, INT64_MAX);
  const auto epoch = NumberIn(words[6], 0, INT64_MAX);
  if (!ping || !pong || !epoch) return Refusal("words 5 to 7 must be numbers");
  node.ping_sent = *ping;
  node.pong_received = *pong;
  node.config_epoch = static_cast<uint64_t>(*epoch);
  for (size_t at = kFixedWords; at < words.size(); ++at) {
    const bool is_move = words[at].starts_with('[');
    absl::Status read = is_move ? ReadMove(words[at], node) : ReadSlots(words[at], node);
    if (!read.ok()) return read;
  }
  return absl::OkStatus();
}

// An IPv6 address contains colons, so the last one precedes the port. The start replaces the ports
// of this node. Its bus port may be too high: earlier versions wrote such a file after a wrong
// `port`.
absl::Status NodesReader::ReadAddress(std::string_view word, ClusterNode& node) const {
  const std::vector<std::string_view> parts = Split(word, ',');
  const std::string_view address = parts[0];
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon > kMostAddressBytes) {
    return Refusal("the address is invalid");
  }
  const std::string_view ports = address.substr(colon + 1);
  const size_t at_sign = ports.find('@');
  const auto port = NumberIn(ports.substr(0, at_sign), 0, kMaxPort);
  if (!port) return Refusal("the port is invalid");
  const auto bus_port = at_sign == std::string_view::npos
                            ? std::optional(*port + kBusPortDistance)
                            : NumberIn(ports.substr(at_sign + 1), 0, INT64_MAX);
  const bool is_self = has_self_ && &node == &topology_.self();
  if (!bus_port || (*bus_port > kMaxPort && !is_self)) return Refusal("the bus port is invalid");
  node.ip = address.substr(0, colon);
  node.port = *port;
  node.bus_port = *bus_port;
  if (parts.size() > 1 && parts[1].size() > kMostHostnameBytes) {
    return Refusal("the host name is too long");
  }
  node.hostname = parts.size() > 1 ? parts[1] : std::string_view();
  for (size_t at = 2; at < parts.size(); ++at) {
    if (absl::Status read = ReadAuxiliary(parts[at], node); !read.ok()) return read;
  }
  return absl::OkStatus();
}

// Unknown names are skipped: later versions have more.
absl::Status NodesReader::ReadAuxiliary(std::string_view word, ClusterNode& node) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return Refusal("'" + std::string(word) + "' lacks a value");
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (name == "shard-id") {
    if (!IsNodeId(value)) return Refusal("a shard's name needs 40 hexadecimal digits");
    node.shard_id = value;
  } else if (name == "tcp-port" || name == "tls-port") {
    const auto port = NumberIn(value, 0, kMaxPort);
    if (!port) return Refusal("the " + std::string(name) + " is invalid");
    (name == "tcp-port" ? node.port : node.tls_port) = *port;
  }
  return absl::OkStatus();
}

absl::Status NodesReader::ReadFlags(std::string_view word, ClusterNode& node) {
  for (const std::string_view name : Split(word, ',')) {
    if (name == "myself") {
      if (std::exchange(has_self_, true)) return Refusal("two nodes have the flag myself");
      topology_.SetSelf(node);
      continue;
    }
    if (name == "master" || name == "noflags") continue;
    const auto flag = std::ranges::find(kFlags, name, &FlagName::name);
    if (flag == kFlags.end()) return Refusal("unknown flag '" + std::string(name) + "'");
    node.*(flag->field) = true;
  }
  return absl::OkStatus();
}

absl::Status NodesReader::ReadMaster(std::string_view word, ClusterNode& node) {
  if (word == "-") return absl::OkStatus();
  if (word == node.id) return Refusal("a node cannot be its own master");
  const absl::StatusOr<ClusterNode*> master = NodeOf(word);
  if (!master.ok()) return master.status();
  node.is_replica = true;
  node.master_id = word;
  return absl::OkStatus();
}

absl::Status NodesReader::ReadSlots(std::string_view word, ClusterNode& node) {
  const auto range = RangeIn(word);
  if (!range) return Refusal("'" + std::string(word) + "' is no range of slots");
  for (size_t slot = range->first; slot <= range->last; ++slot) {
    if (topology_.OwnerOf(slot) != nullptr) {
      return Refusal("slot " + std::to_string(slot) + " has two owners");
    }
    topology_.SetOwner(slot, &node);
  }
  return absl::OkStatus();
}

// A move may name a node, or a slot's owner, of a later line.
absl::Status NodesReader::ReadMove(std::string_view word, ClusterNode& node) {
  const size_t arrow = word.find('-');
  const bool is_complete = word.ends_with(']') && arrow != std::string_view::npos &&
                           word.size() == arrow + 3 + kNodeIdLength + 1;
  const auto slot =
      is_complete ? NumberIn(word.substr(1, arrow - 1), 0, kSlotCount - 1) : std::nullopt;
  const std::string_view direction = is_complete ? word.substr(arrow, 3) : std::string_view();
  if (!slot || (direction != "->-" && direction != "-<-") || &node != &topology_.self()) {
    return Refusal("'" + std::string(word) + "' is no move of a slot");
  }
  const std::string_view other_id = word.substr(arrow + 3, kNodeIdLength);
  if (const auto other = NodeOf(other_id); !other.ok()) return other.status();
  moves_.push_back({static_cast<uint16_t>(*slot), direction == "-<-", std::string(other_id)});
  return absl::OkStatus();
}

}  // namespace

std::string NodeLine(const Topology& topology, const ClusterNode& node,
                     std::span<const SlotRange> ranges, int64_t port) {
  std::string line =
      node.id + " " + node.ip + ":" + std::to_string(port) + "@" + std::to_string(node.bus_port);
  if (!node.hostname.empty()) line += "," + node.hostname;
  line += " " + FlagsText(topology, node) + " ";
  line += node.master_id.empty() ? "-" : node.master_id;
  const ClusterNode& master = topology.MasterOf(node);
  line += " " + std::to_string(node.ping_sent) + " " + std::to_string(node.pong_received) + " " +
          std::to_string(master.config_epoch) +
          (IsConnected(topology, node) ? " connected" : " disconnected");
  for (const SlotRange range : ranges) {
    line += " " + std::to_string(range.first);
    if (range.last != range.first) line += "-" + std::to_string(range.last);
  }
  if (&node != &topology.self()) return line;
  for (const auto& [slot, target] : topology.migrating()) {
    line += " [" + std::to_string(slot) + "->-" + target->id + "]";
  }
  for (const auto& [slot, source] : topology.importing()) {
    line += " [" + std::to_string(slot) + "-<-" + source->id + "]";
  }
  return line;
}

std::string NodesFileText(const Topology& topology) {
  std::string text;
  const auto ranges = topology.Ranges();
  for (const auto& [id, node] : topology.nodes()) {
    if (node->in_handshake && node.get() != &topology.self()) continue;
    const auto found = ranges.find(node.get());
    const int64_t port = node->port != 0 ? node->port : node->tls_port;
    text += NodeLine(topology, *node,
                     found == ranges.end() ? std::span<const SlotRange>() : found->second, port);
    text += "\n";
  }
  text += "vars currentEpoch " + std::to_string(topology.current_epoch) + " lastVoteEpoch " +
          std::to_string(topology.last_vote_epoch);
  text += SlotSetText(" slotsToClear ", topology.slots_to_clear);
  if (const std::optional<SlotGrant>& grant = topology.grant) {
    text += " grantedEpoch " + std::to_string(grant->epoch) + " grantedMillis " +
            std::to_string(grant->millis) + " grantedTo " + grant->target_id +
            SlotSetText(" grantedSlots ", grant->slots);
  }
  return text + "\n";
}

absl::StatusOr<Topology> ReadNodesText(std::string_view text) { return NodesReader().Read(text); }

}  // namespace zsetd
