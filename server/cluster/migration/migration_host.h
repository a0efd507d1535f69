#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/cluster/bus/cluster_bus.h"
#include "server/cluster/migration/slot_eraser.h"
#include "server/engine/support/log.h"

namespace zsetd {

// The node whose slots move.
class MigrationHost {
 public:
  virtual ~MigrationHost() = default;

  virtual ClusterBus& bus() = 0;
  virtual SlotEraser& eraser() = 0;

  // Whether this node has become a master and has not yet decided which keys of
  // Topology::slots_to_clear it must delete.
  virtual bool AwaitsOwners() const = 0;

  // Completes inputs of the bus. Returns the error of saving nodes.conf, in the words of a reply.
  virtual absl::Status Settle() = 0;

  virtual void Log(LogLevel level, std::string_view line) = 0;
};

}  // namespace zsetd
