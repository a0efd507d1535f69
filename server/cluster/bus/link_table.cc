#include "server/cluster/bus/link_table.h"

#include <cassert>

namespace zsetd {

LinkTable::Link* LinkTable::Find(LinkId id) {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : &found->second;
}

LinkId LinkTable::Accept(std::string_view peer_ip, std::string_view own_ip) {
  const LinkId id = ++last_id_;
  links_[id] = {.id = id,
                .is_inbound = true,
                .is_open = true,
                .created = state_.Now(),
                .peer_ip = std::string(peer_ip),
                .own_ip = std::string(own_ip)};
  return id;
}

void LinkTable::Open(ClusterNode& node) {
  assert(node.link == 0);
  node.link = ++last_id_;
  links_[node.link] = {.id = node.link, .node = &node, .created = state_.Now()};
  state_.host.OpenLink(node.link, node.ip, node.bus_port);
}

void LinkTable::Identify(Link& link, ClusterNode& node) {
  assert(link.is_inbound);
  if (link.node == &node) return;
  if (link.node != nullptr) link.node->inbound_link = 0;
  if (node.inbound_link != 0) Close(node.inbound_link);
  link.node = &node;
  node.inbound_link = link.id;
}

void LinkTable::Close(LinkId id) {
  if (!links_.contains(id)) return;
  Remove(id);
  state_.host.CloseLink(id);
}

void LinkTable::CloseLinksOf(ClusterNode& node) {
  Close(node.link);
  Close(node.inbound_link);
}

void LinkTable::Remove(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  if (ClusterNode* node = found->second.node; node != nullptr) {
    LinkId& own = found->second.is_inbound ? node->inbound_link : node->link;
    assert(own == id);
    own = 0;
  }
  links_.erase(found);
}

void LinkTable::Send(LinkId id, BusMessageType type, std::string_view bytes) {
  const Link* link = Find(id);
  if (link == nullptr || !link->is_open) return;
  ++sent_[static_cast<size_t>(type)];
  state_.host.Send(id, bytes);
}

}  // namespace zsetd
