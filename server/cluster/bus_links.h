#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/util/time.h"
#include "server/cluster/message/bus_message.h"
#include "server/cluster/topology/cluster_node.h"
#include "server/engine/support/connector.h"
#include "server/engine/support/log.h"
#include "server/engine/support/peer_port.h"

namespace zsetd {

// The connections between the nodes of a cluster, as streams of messages:
//
//   bytes -> whole messages with a permitted length -> Owner
//   Send() -> bytes
//
// This node opens a link to each other node and accepts one from each. Bytes that are no message
// close the link, and so does a message of a stranger that is longer than kMostBytesOfStranger. A
// message costs memory only as its bytes arrive.
//
// Close() may be called at any time, also for the link whose message is being handled.
class BusLinks {
 public:
  // Receives the events of the links, between the requests of clients.
  class Owner {
   public:
    virtual ~Owner() = default;

    // Another node has connected. Returns the ID of the link. Addresses are without ports.
    virtual LinkId OnAccepted(const std::string& peer_ip, const std::string& own_ip) = 0;

    // A link of Open() is connected.
    virtual void OnOpened(LinkId link, const std::string& peer_ip, const std::string& own_ip) = 0;

    // The link has failed or ended, or its bytes were no message. Close() does not cause the call.
    virtual void OnClosed(LinkId link) = 0;

    // Whether the peer of the link is a node of the cluster, whose messages may be long.
    virtual bool IsOfKnownNode(LinkId link) const = 0;

    // A message, which is valid during the call.
    virtual void OnMessage(LinkId link, std::string_view message) = 0;
  };

  struct Limits {
    size_t most_unsent_bytes = 0;  // of a link; 0: no limit
    size_t most_accepted = 0;      // links that other nodes have opened
  };

  struct Status {
    size_t unsent_bytes = 0;
    size_t capacity = 0;  // memory of unsent and of incomplete messages
  };

  // All arguments outlive this.
  BusLinks(Connector& connector, Owner& owner, const Log& log);
  BusLinks(const BusLinks&) = delete;
  ~BusLinks();

  void set_limits(const Limits& limits) { limits_ = limits; }

  // Opens a link. OnOpened() or OnClosed() follows, not during this call.
  void Open(LinkId link, const Connector::Target& target);

  // Takes a connection of another node, which gets an ID when it is ready. If there are too many,
  // closes the oldest connection of a stranger, or else the new one. O(links) then.
  void Take(const PeerPort::Accept& accept, Millis now);

  // Queues a message. No effect if the link is not open.
  void Send(LinkId link, std::string_view message);

  // Closes a link. No effect if it does not exist.
  void Close(LinkId link);

  // Closes links with too much unsent, and connections of other nodes from which no message has
  // arrived for `patience` since they were accepted. Must be called often. O(links).
  void Maintain(Millis now, Millis patience);

  Status StatusOf(LinkId link) const;

  size_t count() const { return links_.size() + waiting_.size(); }
  size_t BytesUsed() const;                          // O(links)
  uint64_t overflows() const { return overflows_; }  // links that were closed with too much unsent

 private:
  class Link;

  void OnReady(Link& link, const Connection::Endpoints& endpoints);
  void OnEnd(Link& link, std::string_view reason);
  std::unique_ptr<Link> TakeOut(const Link& link);
  Link* OldestOfStrangers();

  Connector& connector_;
  Owner& owner_;
  const Log& log_;
  Limits limits_;
  uint64_t overflows_ = 0;
  size_t accepted_ = 0;
  uint64_t last_number_ = 0;
  std::unordered_map<LinkId, std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<Link>> waiting_;  // accepted, without an ID yet
  std::vector<std::unique_ptr<Link>> closed_;   // may be in use until Maintain()
};

}  // namespace zsetd
