#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/cluster/bus/bus_state.h"
#include "server/cluster/message/bus_message.h"

namespace zsetd {

// The links of a node: at most one that it has opened to each known node, and at most one from each
// known node. Links from unknown peers exist besides.
//
// Invariant: `link` and `inbound_link` of a node are the links whose `node` it is.
class LinkTable {
 public:
  struct Link {
    LinkId id = 0;
    ClusterNode* node = nullptr;  // null: the peer is not known
    bool is_inbound = false;
    bool is_open = false;
    int64_t created = 0;
    std::string peer_ip;
    std::string own_ip;
  };

  explicit LinkTable(BusState& state) : state_(state) {}

  const std::map<LinkId, Link>& all() const { return links_; }

  // The link, or null. Valid until it is closed. O(log links).
  Link* Find(LinkId id);

  // Adds a link from a peer.
  LinkId Accept(std::string_view peer_ip, std::string_view own_ip);

  // Opens the link to a node, which has none.
  void Open(ClusterNode& node);

  // Makes a link from a peer that of a node. Closes the node's previous one.
  void Identify(Link& link, ClusterNode& node);

  // Closes links; those of a node that exist.
  void Close(LinkId id);
  void CloseLinksOf(ClusterNode& node);

  // Removes a link that the host has closed.
  void Remove(LinkId id);

  // Sends the bytes of a message of the type. Drops them if the link is not open.
  void Send(LinkId id, BusMessageType type, std::string_view bytes);

  void CountReceived(BusMessageType type) { ++received_[static_cast<size_t>(type)]; }

  using Counts = std::array<uint64_t, kBusMessageTypes>;
  const Counts& sent() const { return sent_; }
  const Counts& received() const { return received_; }

 private:
  BusState& state_;
  std::map<LinkId, Link> links_;
  LinkId last_id_ = 0;
  Counts sent_{};
  Counts received_{};
};

}  // namespace zsetd
