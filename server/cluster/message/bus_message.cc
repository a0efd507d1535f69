#include "server/cluster/message/bus_message.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>
#include <utility>

#include "server/cluster/topology/cluster_node.h"

namespace zsetd {
namespace {

// A big-endian number. Without alignment, so that a struct of fields has no gaps.
template <typename Number>
class Field {
 public:
  static constexpr size_t kBytes = sizeof(Number);

  Field() = default;
  Field(Number number) {  // NOLINT: converts as the number itself
    for (size_t at = kBytes; at > 0; --at) {
      bytes_[at - 1] = static_cast<uint8_t>(number);
      number = static_cast<Number>(static_cast<uint64_t>(number) >> 8);
    }
  }

  operator Number() const {  // NOLINT: as above
    uint64_t number = 0;
    for (const uint8_t byte : bytes_) number = number << 8 | byte;
    return static_cast<Number>(number);
  }

 private:
  std::array<uint8_t, kBytes> bytes_{};
};

using Field16 = Field<uint16_t>;
using Field32 = Field<uint32_t>;
using Field64 = Field<uint64_t>;

constexpr size_t kAddressBytes = 46;
using NameField = std::array<char, kNodeIdLength>;
using AddressField = std::array<char, kAddressBytes>;

struct WireHeader {
  std::array<char, 4> signature{'R', 'C', 'm', 'b'};
  Field32 length;
  Field16 version = kVersion;
  Field16 port;
  Field16 type;
  Field16 count;  // of entries of gossip
  Field64 current_epoch;
  Field64 config_epoch;
  Field64 replication_offset;
  NameField sender{};
  SlotSet::Bytes slots{};
  NameField master{};
  AddressField ip{};
  Field16 extensions;
  std::array<char, 30> unused{};
  Field16 second_port;
  Field16 bus_port;
  Field16 flags;
  uint8_t state = 0;  // 1: the cluster is down
  std::array<uint8_t, 3> message_flags{};

  static constexpr uint16_t kVersion = 1;
};

constexpr size_t kHeaderBytes = sizeof(WireHeader);
static_assert(kHeaderBytes == 2256);
static_assert(offsetof(WireHeader, length) == 4);
static_assert(offsetof(WireHeader, version) == 8);
static_assert(offsetof(WireHeader, port) == 10);
static_assert(offsetof(WireHeader, type) == 12);
static_assert(offsetof(WireHeader, count) == 14);
static_assert(offsetof(WireHeader, current_epoch) == 16);
static_assert(offsetof(WireHeader, config_epoch) == 24);
static_assert(offsetof(WireHeader, replication_offset) == 32);
static_assert(offsetof(WireHeader, sender) == 40);
static_assert(offsetof(WireHeader, slots) == 80);
static_assert(offsetof(WireHeader, master) == 2128);
static_assert(offsetof(WireHeader, ip) == 2168);
static_assert(offsetof(WireHeader, extensions) == 2214);
static_assert(offsetof(WireHeader, second_port) == 2246);
static_assert(offsetof(WireHeader, bus_port) == 2248);
static_assert(offsetof(WireHeader, flags) == 2250);
static_assert(offsetof(WireHeader, state) == 2252);
static_assert(offsetof(WireHeader, message_flags) == 2253);

// In the first byte of `message_flags`.
constexpr uint8_t kPausedFlag = 1;
constexpr uint8_t kForceVoteFlag = 2;
constexpr uint8_t kExtensionsFlag = 4;

struct WireGossip {
  NameField id{};
  Field32 ping_sent;
  Field32 pong_received;
  AddressField ip{};
  Field16 port;
  Field16 bus_port;
  Field16 flags;
  Field16 second_port;
  Field16 unused;
};
static_assert(sizeof(WireGossip) == 104);
static_assert(offsetof(WireGossip, ip) == 48);
static_assert(offsetof(WireGossip, port) == 94);
static_assert(offsetof(WireGossip, second_port) == 100);

struct WireExtension {
  Field32 length;  // with this header; a multiple of 8
  Field16 type;
  Field16 unused;
};
constexpr size_t kExtensionBytes = sizeof(WireExtension);
static_assert(kExtensionBytes == 8);

enum ExtensionType : uint16_t {
  kHostname = 0,
  kHumanName = 1,
  kForgottenNode = 2,
  kShardId = 3,
};

struct WireForgottenNode {
  NameField id{};
  Field64 seconds;
};
static_assert(sizeof(WireForgottenNode) == 48);

struct WireUpdate {
  Field64 config_epoch;
  NameField id{};
  SlotSet::Bytes slots{};
};
static_assert(sizeof(WireUpdate) == 2096);

struct WirePublication {
  Field32 channel_length;
  Field32 payload_length;
};
static_assert(sizeof(WirePublication) == 8);

constexpr size_t kMostPings = 8u << 20;           // 65,535 entries of gossip, and extensions
constexpr size_t kMostPublication = 1024u << 20;  // a channel and a payload of 512 MB each
constexpr size_t kMostNameBytes = 255;  // of host names and of human-readable ones, as in Redis

// The most bytes of a PING about this number of other nodes.
constexpr size_t LongestPing(size_t nodes) {
  constexpr size_t kTexts = 3;  // two names and the shard's
  return kHeaderBytes + nodes * sizeof(WireGossip) +
         kMostForgottenNodes * (kExtensionBytes + sizeof(WireForgottenNode)) +
         kTexts * (kExtensionBytes + kMostNameBytes + 1);
}
static_assert(LongestPing(UINT16_MAX) <= kMostPings);
static_assert(LongestPing(kMostClusterNodes) <= kMostBytesOfStranger);

// Copies a struct of fields from the front of `bytes`, and removes it there. Returns false if the
// bytes are too few.
template <typename Wire>
bool Take(std::string_view& bytes, Wire& wire) {
  if (bytes.size() < sizeof(Wire)) return false;
  std::memcpy(static_cast<void*>(&wire), bytes.data(), sizeof(Wire));
  bytes.remove_prefix(sizeof(Wire));
  return true;
}

template <typename Wire>
void Append(std::string& out, const Wire& wire) {
  out.append(reinterpret_cast<const char*>(&wire), sizeof(Wire));
}

// The text before the first NUL.
template <size_t N>
std::string TextOf(const std::array<char, N>& field) {
  return std::string(field.begin(), std::ranges::find(field, '\0'));
}

template <size_t N>
void SetText(std::array<char, N>& field, std::string_view text) {
  assert(text.size() <= N);
  field.fill('\0');
  std::ranges::copy(text, field.begin());
}

bool IsDigitOrLetter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsPublication(BusMessageType type) {
  return type == BusMessageType::kPublish || type == BusMessageType::kPublishShard;
}

// Whether a node can have this name: nodes.conf has a name of zeros for "none".
bool IsNameOfNode(std::string_view text) {
  return IsNodeId(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool DecodeHeader(const WireHeader& wire, BusHeader& header) {
  header.type = static_cast<BusMessageType>(static_cast<uint16_t>(wire.type));
  header.sender = TextOf(wire.sender);
  header.master_id = TextOf(wire.master);
  header.current_epoch = wire.current_epoch;
  header.config_epoch = wire.config_epoch;
  header.replication_offset = wire.replication_offset;
  header.slots = wire.slots;
  header.ip = TextOf(wire.ip);
  header.port = wire.port;
  header.second_port = wire.second_port;
  header.bus_port = wire.bus_port;
  header.flags = wire.flags;
  header.is_up = wire.state == 0;
  header.has_paused_clients = (wire.message_flags[0] & kPausedFlag) != 0;
  header.forces_vote = (wire.message_flags[0] & kForceVoteFlag) != 0;
  header.reads_extensions = (wire.message_flags[0] & kExtensionsFlag) != 0;
  if (header.current_epoch > kMostEpoch || header.config_epoch > kMostEpoch) return false;
  return IsNameOfNode(header.sender) &&
         (header.master_id.empty() || IsNameOfNode(header.master_id)) &&
         (header.ip.empty() || IsBusAddress(header.ip));
}

bool DecodeGossip(std::string_view& bytes, size_t count, std::vector<BusGossip>& gossip) {
  if (bytes.size() < count * sizeof(WireGossip)) return false;
  gossip.reserve(count);
  for (; count > 0; --count) {
    WireGossip wire;
    Take(bytes, wire);
    BusGossip entry{.id = TextOf(wire.id),
                    .ping_sent = wire.ping_sent,
                    .pong_received = wire.pong_received,
                    .ip = TextOf(wire.ip),
                    .port = wire.port,
                    .second_port = wire.second_port,
                    .bus_port = wire.bus_port,
                    .flags = wire.flags};
    const bool is_valid = IsNameOfNode(entry.id) && (entry.ip.empty() || IsBusAddress(entry.ip));
    if (is_valid) gossip.push_back(std::move(entry));
  }
  return true;
}

// Reads one extension. `data` may end with padding.
bool DecodeExtension(uint16_t type, std::string_view data, BusExtensions& extensions) {
  const std::string_view text = data.substr(0, data.find('\0'));
  switch (type) {
    case kHostname:
      if (!text.empty() && !IsBusHostname(text)) return false;
      extensions.hostname = text;
      return true;
    case kHumanName:
      if (!text.empty() && !IsBusHumanName(text)) return false;
      extensions.human_name = text;
      return true;
    case kForgottenNode: {
      WireForgottenNode wire;
      if (!Take(data, wire)) return false;
      const bool is_useful = extensions.forgotten_nodes.size() < kMostForgottenNodes;
      std::string id = TextOf(wire.id);
      if (is_useful && IsNodeId(id))
        extensions.forgotten_nodes.push_back({std::move(id), wire.seconds});
      return true;
    }
    case kShardId:
      if (data.size() < kNodeIdLength || !IsNodeId(data.substr(0, kNodeIdLength))) return false;
      extensions.shard_id = data.substr(0, kNodeIdLength);
      return true;
    default:
      return true;
  }
}

bool DecodeExtensions(std::string_view& bytes, size_t count, BusExtensions& extensions) {
  for (; count > 0; --count) {
    WireExtension wire;
    if (!Take(bytes, wire)) return false;
    const size_t length = wire.length;
    if (length < kExtensionBytes || length % 8 != 0) return false;
    if (length - kExtensionBytes > bytes.size()) return false;
    const std::string_view data = bytes.substr(0, length - kExtensionBytes);
    bytes.remove_prefix(data.size());
    if (!DecodeExtension(wire.type, data, extensions)) return false;
  }
  return true;
}

bool DecodePublication(std::string_view& bytes, BusMessage& message) {
  WirePublication wire;
  if (!Take(bytes, wire)) return false;
  const uint64_t total = uint64_t{wire.channel_length} + wire.payload_length;
  if (total != bytes.size()) return false;
  message.channel = bytes.substr(0, wire.channel_length);
  message.payload = bytes.substr(wire.channel_length);
  bytes = {};
  return true;
}

bool DecodeBody(std::string_view& bytes, const WireHeader& wire, BusMessage& message) {
  switch (message.header.type) {
    case BusMessageType::kPing:
    case BusMessageType::kPong:
    case BusMessageType::kMeet:
      if (!DecodeGossip(bytes, wire.count, message.gossip)) return false;
      if (!message.header.reads_extensions) return true;
      message.extensions.emplace();
      return DecodeExtensions(bytes, wire.extensions, *message.extensions);
    case BusMessageType::kFail: {
      NameField id;
      if (!Take(bytes, id)) return false;
      message.subject_id = TextOf(id);
      return IsNodeId(message.subject_id);
    }
    case BusMessageType::kPublish:
    case BusMessageType::kPublishShard:
      return DecodePublication(bytes, message);
    case BusMessageType::kUpdate: {
      WireUpdate update;
      if (!Take(bytes, update)) return false;
      message.subject_id = TextOf(update.id);
      message.subject_epoch = update.config_epoch;
      message.subject_slots = update.slots;
      return IsNodeId(message.subject_id) && message.subject_epoch <= kMostEpoch;
    }
    case BusMessageType::kModule:
      bytes = {};
      return true;
    default:
      return true;
  }
}

void AppendExtension(std::string& out, uint16_t type, std::string_view data) {
  const size_t padding = (8 - data.size() % 8) % 8;
  WireExtension wire;
  wire.length = static_cast<uint32_t>(kExtensionBytes + data.size() + padding);
  wire.type = type;
  Append(out, wire);
  out.append(data).append(padding, '\0');
}

// Returns the number of extensions. A text ends with a NUL.
uint16_t AppendExtensions(std::string& out, const BusExtensions& extensions) {
  uint16_t count = 0;
  const auto append_text = [&](uint16_t type, const std::optional<std::string>& text) {
    if (!text) return;
    AppendExtension(out, type, std::string_view(text->c_str(), text->size() + 1));
    ++count;
  };
  append_text(kHostname, extensions.hostname);
  append_text(kHumanName, extensions.human_name);
  const std::span<const BusForgottenNode> forgotten = extensions.forgotten_nodes;
  for (const BusForgottenNode& node :
       forgotten.first(std::min(forgotten.size(), kMostForgottenNodes))) {
    WireForgottenNode wire;
    SetText(wire.id, node.id);
    wire.seconds = node.seconds;
    std::string data;
    Append(data, wire);
    AppendExtension(out, kForgottenNode, data);
    ++count;
  }
  if (extensions.shard_id) {
    AppendExtension(out, kShardId, *extensions.shard_id);
    ++count;
  }
  return count;
}

WireHeader EncodeHeader(const BusHeader& header) {
  WireHeader wire;
  wire.type = static_cast<uint16_t>(header.type);
  wire.current_epoch = header.current_epoch;
  wire.config_epoch = header.config_epoch;
  wire.replication_offset = header.replication_offset;
  SetText(wire.sender, header.sender);
  SetText(wire.master, header.master_id);
  SetText(wire.ip, header.ip);
  wire.slots = header.slots;
  wire.port = header.port;
  wire.second_port = header.second_port;
  wire.bus_port = header.bus_port;
  wire.flags = header.flags;
  wire.state = header.is_up ? 0 : 1;
  wire.message_flags[0] = (header.has_paused_clients ? kPausedFlag : 0) |
                          (header.forces_vote ? kForceVoteFlag : 0) |
                          (header.reads_extensions ? kExtensionsFlag : 0);
  return wire;
}

void AppendGossip(std::string& out, const BusGossip& entry) {
  WireGossip wire;
  SetText(wire.id, entry.id);
  wire.ping_sent = entry.ping_sent;
  wire.pong_received = entry.pong_received;
  SetText(wire.ip, entry.ip);
  wire.port = entry.port;
  wire.second_port = entry.second_port;
  wire.bus_port = entry.bus_port;
  wire.flags = entry.flags;
  Append(out, wire);
}

}  // namespace

std::string_view BusMessageName(BusMessageType type) {
  constexpr std::array<std::string_view, kBusMessageTypes> kNames = {
      "ping",     "pong",   "meet",    "fail",   "publish",     "auth-req",
      "auth-ack", "update", "mfstart", "module", "publishshard"};
  return kNames[static_cast<size_t>(type)];
}

bool IsBusAddress(std::string_view text) {
  return !text.empty() && text.size() < kAddressBytes && std::ranges::all_of(text, [](char c) {
    return IsDigitOrLetter(c) || std::string_view(".:-_%").find(c) != std::string_view::npos;
  });
}

bool IsBusHostname(std::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes && std::ranges::all_of(text, [](char c) {
    return IsDigitOrLetter(c) || c == '-' || c == '.' || c == '_';
  });
}

bool IsBusHumanName(std::string_view text) {
  constexpr std::string_view kForbidden = "!#$%&()*+,:;<=>?@[]^{|}~";
  return !text.empty() && text.size() <= kMostNameBytes && std::ranges::all_of(text, [&](char c) {
    return c > ' ' && c < '\x7f' && kForbidden.find(c) == std::string_view::npos;
  });
}

std::optional<size_t> BusMessageLength(std::string_view prefix) {
  assert(prefix.size() >= kBusPrefixBytes);
  WireHeader wire;
  std::memcpy(static_cast<void*>(&wire), prefix.data(), kBusPrefixBytes);
  if (wire.signature != WireHeader().signature) return std::nullopt;
  const size_t length = wire.length;
  const bool may_be_long =
      IsPublication(static_cast<BusMessageType>(static_cast<uint16_t>(wire.type)));
  if (length < kHeaderBytes || length > (may_be_long ? kMostPublication : kMostPings)) {
    return std::nullopt;
  }
  return length;
}

std::optional<BusMessage> DecodeBusMessage(std::string_view bytes) {
  const size_t length = bytes.size();
  WireHeader wire;
  if (!Take(bytes, wire) || wire.signature != WireHeader().signature || wire.length != length ||
      wire.version != WireHeader::kVersion || wire.type >= kBusMessageTypes) {
    return std::nullopt;
  }
  BusMessage message;
  if (!DecodeHeader(wire, message.header)) return std::nullopt;
  if (!DecodeBody(bytes, wire, message) || !bytes.empty()) return std::nullopt;
  return message;
}

std::string EncodeBusMessage(const BusMessage& message) {
  WireHeader wire = EncodeHeader(message.header);
  std::string out(kHeaderBytes, '\0');
  switch (message.header.type) {
    case BusMessageType::kPing:
    case BusMessageType::kPong:
    case BusMessageType::kMeet:
      assert(message.gossip.size() <= UINT16_MAX);
      wire.count = static_cast<uint16_t>(message.gossip.size());
      for (const BusGossip& entry : message.gossip) AppendGossip(out, entry);
      if (message.extensions) wire.extensions = AppendExtensions(out, *message.extensions);
      break;
    case BusMessageType::kFail:
      assert(IsNodeId(message.subject_id));
      out += message.subject_id;
      break;
    case BusMessageType::kPublish:
    case BusMessageType::kPublishShard: {
      WirePublication publication;
      publication.channel_length = static_cast<uint32_t>(message.channel.size());
      publication.payload_length = static_cast<uint32_t>(message.payload.size());
      Append(out, publication);
      out.append(message.channel).append(message.payload);
      break;
    }
    case BusMessageType::kUpdate: {
      WireUpdate update;
      update.config_epoch = message.subject_epoch;
      SetText(update.id, message.subject_id);
      update.slots = message.subject_slots;
      Append(out, update);
      break;
    }
    default:
      break;
  }
  wire.length = static_cast<uint32_t>(out.size());
  std::memcpy(out.data(), &wire, kHeaderBytes);
  return out;
}

}  // namespace zsetd
