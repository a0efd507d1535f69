#include "server/engine/services/services.h"

#include "server/engine/services/no_services.h"

namespace zsetd {

Services::Services()
    : scripting(std::make_unique<NoScripting>()),
      snapshots(std::make_unique<NoSnapshots>()),
      append_log(std::make_unique<NoAppendLog>()),
      master(std::make_unique<NoMaster>()),
      replicas(std::make_unique<NoReplicas>()),
      migration(std::make_unique<NoMigration>()),
      network(std::make_unique<NoNetwork>()),
      cluster(std::make_unique<NoCluster>()),
      slot_migrations(std::make_unique<NoSlotMigrations>()) {}

Services::~Services() = default;

}  // namespace zsetd
