#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/services/cluster_control.h"

namespace zsetd {

class Client;

// A migration of slots, as CLUSTER GETSLOTMIGRATIONS shows it. Times are in seconds since 1970.
struct SlotMigrationView {
  std::string name;
  bool is_export = false;  // from this node
  std::vector<SlotRange> ranges;
  std::string source_id;
  std::string target_id;
  int64_t created = 0;
  int64_t updated = 0;       // the last change of the state
  int64_t acknowledged = 0;  // the last sign of life of the other node
  std::string_view state;
  std::string message;  // why it has ended; may be empty
};

// Slots to move to one node.
struct SlotMigrationRequest {
  std::vector<SlotRange> ranges;
  std::string target_id;
};

// The announcement of a source.
struct SlotImportRequest {
  std::string name;
  std::string source_id;
  std::vector<SlotRange> ranges;
};

// Moves slots to other nodes of a cluster as a whole (CLUSTER MIGRATESLOTS). A refusal is the whole
// error line; nothing has changed then.
class SlotMigrationControl {
 public:
  virtual ~SlotMigrationControl() = default;

  // Returns why this node moves no slots at all at present, or OK.
  virtual absl::Status CheckState() const = 0;

  // Checks that one node owns all slots of the ranges.
  virtual absl::Status CheckOwner(std::span<const SlotRange> ranges) const = 0;

  // Returns a refusal while slots move in this way: SETSLOT would contradict it.
  virtual absl::Status CheckNoneRuns() const = 0;

  // Starts a migration for each request: all or none. They continue in the background.
  virtual absl::Status Start(std::span<const SlotMigrationRequest> requests) = 0;

  // Ends all migrations from this node.
  virtual absl::Status Cancel() = 0;

  // The migrations that run or have ended, the latest first.
  virtual std::vector<SlotMigrationView> Migrations() const = 0;

  // For the connection of a source, which sends keys and changes of these slots from now on.
  virtual absl::Status StartImport(Client& source, const SlotImportRequest& request) = 0;

  // The source has sent everything and accepts no writes.
  virtual absl::Status NotePause(Client& source) = 0;

  // This node takes the slots with this epoch, unless `within` has passed since NotePause(), or
  // another node has the epoch.
  virtual absl::Status FinishImport(Client& source, Millis within, uint64_t granted_epoch) = 0;

  // On a replica, a note of its master: the keys of these slots, and of no others, are to be
  // deleted unless the shard gets the slots. Without effect on a master.
  virtual absl::Status NoteSlotsToClear(std::span<const SlotRange> ranges) = 0;
};

}  // namespace zsetd
