#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/blocked_runner.h"
#include "server/engine/clients.h"
#include "server/engine/command/command_table.h"
#include "server/engine/config/settings.h"
#include "server/engine/executor.h"
#include "server/engine/metrics/command_clock.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/notify/notifier.h"
#include "server/engine/notify/reply_holds.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/request/foreign_command_log.h"
#include "server/engine/request/slot_routing.h"
#include "server/engine/script_command_runner.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/services.h"
#include "server/engine/shutdown.h"
#include "server/engine/state/disk_state.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/state/run_identity.h"
#include "server/engine/state/server_mode.h"
#include "server/engine/store/store.h"
#include "server/engine/support/host.h"
#include "server/engine/suspended_unit.h"
#include "server/engine/units.h"

namespace zsetd {

// The parts of the server below the network, constructed and connected: each is a class of its own,
// and owns what it is about. Has neither sockets nor a clock: requests and time come from outside.
//
//   Executor ──► the command ──► Store ──► Notifier
//      │                          (data)     (the consequences of a change)
//      ├──► Clients, AccessControl            connections, permissions, limits
//      └──► Metrics                           what it took
class Engine {
 public:
  using Families = std::span<const std::span<const Command>>;

  Engine(const Settings& settings, Families families, uint64_t seed, Millis now, Host host);
  Engine(const Engine&) = delete;

  // The parts of the server above this layer.
  Services& services() { return services_; }
  const Services& services() const { return services_; }

  // The work of these parts between requests.
  BackgroundTasks& tasks() { return tasks_; }
  const BackgroundTasks& tasks() const { return tasks_; }

  const Settings& settings() const { return settings_; }

  // At the start: renames commands according to the settings, and loads the users from the ACL file
  // or the settings. An error is human-readable.
  absl::Status Prepare();

  // Replaces the settings, unless the host or a service rejects them. They are read where they are
  // used, so changes take effect immediately.
  absl::Status Configure(const Settings& settings);

  CommandTable& commands() { return commands_; }
  AccessControl& access() { return access_; }
  const AccessControl& access() const { return access_; }
  Store& store() { return store_; }
  const Store& store() const { return store_; }
  Clients& clients() { return clients_; }
  const Clients& clients() const { return clients_; }
  Executor& executor() { return executor_; }
  const Executor& executor() const { return executor_; }
  BlockedRunner& blocked_runner() { return blocked_runner_; }
  SuspendedUnit& suspended_unit() { return suspended_unit_; }
  const SuspendedUnit& suspended_unit() const { return suspended_unit_; }
  ScriptCommandRunner& script_command_runner() { return script_command_runner_; }
  Units& units() { return units_; }
  const Units& units() const { return units_; }
  CommandClock& clock() { return clock_; }
  const CommandClock& clock() const { return clock_; }
  ForeignCommandLog& foreign_command_log() { return foreign_command_log_; }
  Notifier& notifier() { return notifier_; }
  const Notifier& notifier() const { return notifier_; }
  Metrics& metrics() { return metrics_; }
  const Metrics& metrics() const { return metrics_; }
  ReplyHolds& reply_holds() { return reply_holds_; }
  const ReplyHolds& reply_holds() const { return reply_holds_; }
  Effects& effects() { return effects_; }
  const Effects& effects() const { return effects_; }
  ServerMode& mode() { return mode_; }
  const ServerMode& mode() const { return mode_; }
  DiskState& disk() { return disk_; }
  const DiskState& disk() const { return disk_; }
  ReplicationState& replication() { return replication_; }
  const ReplicationState& replication() const { return replication_; }
  Shutdown& shutdown() { return shutdown_; }
  const Shutdown& shutdown() const { return shutdown_; }
  SlotRouting& routing() { return routing_; }
  const SlotRouting& routing() const { return routing_; }
  const RunIdentity& identity() const { return identity_; }
  const Host& host() const { return host_; }

 private:
  Settings settings_;
  Host host_;
  ServerMode mode_;
  Services services_;
  BackgroundTasks tasks_;
  Effects effects_;
  CommandTable commands_;
  Metrics metrics_{commands_, settings_};
  ReplyHolds reply_holds_{notifier_, services_};
  Store store_;
  Clients clients_;
  AccessControl access_;
  Notifier notifier_;
  RunIdentity identity_;
  DiskState disk_{settings_};
  ReplicationState replication_;
  ForeignCommandLog foreign_command_log_{*host_.log};
  CommandClock clock_{host_};
  SlotRouting routing_{settings_, services_, store_, *host_.log};
  Units units_{*this};
  SuspendedUnit suspended_unit_{*this};
  ScriptCommandRunner script_command_runner_{*this};
  Executor executor_{*this};
  BlockedRunner blocked_runner_{*this, executor_.replies()};
  Shutdown shutdown_{*this};
};

}  // namespace zsetd
