#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/cluster/topology/cluster_node.h"
#include "server/engine/support/log.h"

namespace zsetd {

// The surroundings of a ClusterBus: its clock, its links, its disk and the server's data.
//
// The functions are called during inputs of the ClusterBus. They may read it, but must not call its
// inputs: a link that fails immediately is reported later.
class BusHost {
 public:
  virtual ~BusHost() = default;

  // Milliseconds since 1970 by a clock that only goes forward: setting the machine's clock does not
  // change it.
  virtual int64_t Now() const = 0;

  // The position in the replication history, which replicas of one master compare: of a master the
  // end of its history, of a replica the end of the applied part.
  virtual int64_t ReplicationOffset() const = 0;

  // For how many milliseconds this replica has received nothing from its master: since the last
  // byte if the link to it is up, else since the link went down.
  virtual int64_t DataAge() const = 0;

  // Whether the link to the master is up: then this replica has the master's data at that offset of
  // its history.
  virtual bool IsLinkedToMaster() const = 0;

  // Whether the replication follows a master, connected or not.
  virtual bool FollowsMaster() const = 0;

  virtual bool HasKeysIn(size_t slot) const = 0;

  // Opens a link to the bus of a node. Its success is reported by ClusterBus::OnOpened(), and its
  // failure or end by ClusterBus::OnClosed().
  virtual void OpenLink(LinkId link, const std::string& ip, int64_t bus_port) = 0;

  // Closes a link. ClusterBus does not use it any more and takes no report about it.
  virtual void CloseLink(LinkId link) = 0;

  // Queues a whole message. If more than cluster-link-sendbuf-limit bytes are queued, the host ends
  // the link with ClusterBus::OnClosed(), outside of this call.
  virtual void Send(LinkId link, std::string_view message) = 0;

  // Saves NodesFileText(ClusterBus::topology()). When this returns OK the text survives the end of
  // the process, and with `is_synced` a power failure. Without it, a power failure may restore an
  // earlier text: the host syncs such a text within about a second. The host logs errors.
  virtual absl::Status Save(bool is_synced) = 0;

  // Roles, owners of slots, addresses or ClusterBus::IsUp() have changed. Called by
  // ClusterBus::Settle().
  virtual void TopologyChanged() = 0;

  // Replicates this master, also if the server replicates another one, or the same one at another
  // address.
  virtual void FollowMaster(const ClusterNode& master) = 0;

  // Ends the replication and makes the server a master. It keeps its data.
  virtual void BecomeMaster() = 0;

  // Deletes all data, for CLUSTER RESET of a replica.
  virtual void DeleteAllKeys() = 0;

  // Deletes the keys of a slot that another node has taken over, without notice to that node.
  virtual void DeleteKeysIn(size_t slot) = 0;

  // Suspends all writes of clients until ResumeWrites(), for a manual failover. The replication
  // offset does not change in between.
  virtual void PauseWrites() = 0;
  virtual void ResumeWrites() = 0;

  // Whether the pause is complete: no command that began before it may still change data. Until
  // then the offset is not announced as that of a paused master.
  virtual bool AreWritesStopped() const = 0;

  // Delivers a message of another node to the subscribers of this one.
  virtual void PublishLocally(std::string_view channel, std::string_view payload,
                              bool is_shard_channel) = 0;

  virtual void Log(LogLevel level, std::string_view line) = 0;
};

}  // namespace zsetd
