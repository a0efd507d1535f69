// The parts of the server above the engine, which commands and the engine reach through interfaces.
#pragma once

#include <cassert>
#include <memory>
#include <utility>

#include "server/engine/services/installation.h"

namespace zsetd {

class ClusterControl;
class LogControl;
class MasterControl;
class Migration;
class NetworkControl;
class ReplicaRegistry;
class Scripting;
class SlotMigrationControl;
class SnapshotControl;

// Refers to a service, or, while none is installed, to a default that does nothing. Never null.
template <typename Interface>
class ServiceSlot {
 public:
  explicit ServiceSlot(std::unique_ptr<Interface> absent)
      : absent_(std::move(absent)), service_(absent_.get()) {}

  Interface& operator*() const { return *service_; }
  Interface* operator->() const { return service_; }

  // Refers to the service until the installation is destroyed, which happens before this object is
  // destroyed. Preconditions: no service is installed, and no command is running.
  Installation Install(Interface& service) {
    assert(service_ == absent_.get());
    service_ = &service;
    return Installation([this] { service_ = absent_.get(); });
  }

 private:
  const std::unique_ptr<Interface> absent_;
  Interface* service_;
};

// The services of an engine. A service installs itself when it is constructed.
struct Services {
  Services();
  Services(const Services&) = delete;
  ~Services();

  ServiceSlot<Scripting> scripting;                   // runs scripts and functions
  ServiceSlot<SnapshotControl> snapshots;             // takes and loads snapshots
  ServiceSlot<LogControl> append_log;                 // keeps the append-only log
  ServiceSlot<MasterControl> master;                  // follows a master
  ServiceSlot<ReplicaRegistry> replicas;              // serves replicas
  ServiceSlot<Migration> migration;                   // moves keys to other servers
  ServiceSlot<NetworkControl> network;                // listens, and ends the server
  ServiceSlot<ClusterControl> cluster;                // which node serves which slot
  ServiceSlot<SlotMigrationControl> slot_migrations;  // moves slots to other nodes
};

}  // namespace zsetd
