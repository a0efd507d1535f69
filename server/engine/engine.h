#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/clients.h"
#include "server/engine/command/command_table.h"
#include "server/engine/config/settings.h"
#include "server/engine/executor.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/notify/notifier.h"
#include "server/engine/propagation/effects.h"
#include "server/engine/reply_holds.h"
#include "server/engine/store/store.h"
#include "server/engine/support/host.h"

namespace zsetd {

class Persistence;
class Scripting;

// The parts of the server below the network, constructed and connected: each is a class of its own,
// and owns what it is about. Has neither sockets nor a clock: requests and time come from outside.
//
//   Executor ──► the command ──► Store ──► Notifier
//      │                          (data)     (what follows from a change)
//      ├──► Clients, AccessControl            who may ask, and for how much
//      └──► Metrics                           what it took
class Engine {
 public:
  using Families = std::span<const std::span<const Command>>;

  Engine(const Settings& settings, Families families, uint64_t seed, Millis now, Host host);
  Engine(const Engine&) = delete;

  Millis now() const { return store_.now(); }

  // What runs scripts; null: nothing does. It outlives the engine's last request.
  void set_scripting(Scripting* scripting) { scripting_ = scripting; }
  Scripting* scripting() const { return scripting_; }

  // What receives the changes, so that they can be repeated elsewhere; null if nothing does. To be
  // set between commands.
  void set_journal(Journal* journal) { effects_.set_journal(journal); }
  Effects& effects() { return effects_; }

  // Whether what was propagated elsewhere is being applied here (applier.h): it is not checked.
  bool IsApplying() const { return effects_.is_muted(); }

  // What keeps the data on disk; null if nothing does. It outlives all requests.
  void set_persistence(Persistence* persistence) {
    persistence_ = persistence;
    reply_holds_.set_persistence(persistence);
  }
  Persistence* persistence() const { return persistence_; }

  // Whether the data is being loaded: only requests that need none of it are answered, and no key
  // expires or is evicted.
  void set_loading(bool loading) { loading_ = loading; }
  bool loading() const { return loading_; }

  // Whether the last snapshot could not be kept, for which requests that write may be refused
  // (stop-writes-on-bgsave-error).
  void set_snapshots_fail(bool fail) { snapshots_fail_ = fail; }

  // Why the append-only log cannot be written at present; empty if it can.
  void set_log_error(std::string reason) { log_error_ = std::move(reason); }
  const std::string& log_error() const { return log_error_; }

  // Whether requests that write are refused because they might not be kept, and the error then.
  bool DiskForbidsWrites() const {
    return (snapshots_fail_ && settings_.stop_writes_on_bgsave_error && settings_.save.Any()) ||
           !log_error_.empty();
  }
  absl::Status DiskError() const;

  // Which replies wait for the append-only log.
  ReplyHolds& reply_holds() { return reply_holds_; }
  const ReplyHolds& reply_holds() const { return reply_holds_; }

  const Settings& settings() const { return settings_; }

  // At the start: renames commands according to the settings, and loads the users from the ACL file
  // or the settings. An error is human-readable.
  absl::Status Prepare();

  // Replaces the settings, unless the host rejects them. They are read where they are used, so that
  // changes take effect at once.
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
  Notifier& notifier() { return notifier_; }
  const Notifier& notifier() const { return notifier_; }
  Metrics& metrics() { return metrics_; }
  const Metrics& metrics() const { return metrics_; }
  void ResetStats();  // CONFIG RESETSTAT
  const Host& host() const { return host_; }
  Millis started_at() const { return started_at_; }

  // 40 digits that identify this history of the data.
  const std::string& replication_id() const { return replication_id_; }
  void ChangeReplicationId();

  const std::string& run_id() const { return run_id_; }  // 40 digits that no other run has

 private:
  Settings settings_;
  Host host_;
  Effects effects_;
  CommandTable commands_;
  Metrics metrics_{commands_, settings_};
  ReplyHolds reply_holds_{notifier_};
  Store store_;
  Clients clients_;
  AccessControl access_;
  Notifier notifier_;
  std::string run_id_;
  std::string replication_id_;
  Scripting* scripting_ = nullptr;
  Persistence* persistence_ = nullptr;
  bool loading_ = false;
  bool snapshots_fail_ = false;
  std::string log_error_;
  Millis started_at_;
  Executor executor_{*this};
};

}  // namespace zsetd
