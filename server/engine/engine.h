#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "core/util/rng.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/client_pause.h"
#include "server/engine/command/command_table.h"
#include "server/engine/config/settings.h"
#include "server/engine/effects.h"
#include "server/engine/key_prefetcher.h"
#include "server/engine/memory_gauge.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/notify/blocked_clients.h"
#include "server/engine/notify/channels.h"
#include "server/engine/notify/monitors.h"
#include "server/engine/notify/tracking.h"
#include "server/engine/notify/watches.h"
#include "server/engine/recent_changes.h"
#include "server/engine/scripting.h"
#include "server/engine/services.h"
#include "server/engine/store/database.h"
#include "server/engine/store/evictor.h"
#include "server/engine/store/value_copies.h"

namespace zsetd {

class Call;
struct ScriptSession;

// When replies may be sent, with respect to the append-only log.
enum class Release { kNow, kLater, kNever };

// What the engine asks of the world around it.
struct Host {
  // Applies settings that concern others than the engine. May return an error, with a reason as
  // from SetValue(); nothing changes then. Null: there is nothing to do.
  std::function<absl::Status(const Settings&)> apply;

  std::function<Micros()> stopwatch;          // a clock that only goes forward, for measuring
  std::function<Micros()> wall_clock;         // since the Unix epoch, for TIME and the like
  std::function<void(std::string_view)> log;  // writes a line to the server's log
  std::function<void(Micros)> sleep;          // suspends the whole server (DEBUG SLEEP)
  std::function<void()> shut_down;            // requests a clean shutdown

  // Frees its argument in the background. Null: the engine frees things itself.
  std::function<void(std::shared_ptr<void>)> free_in_background;

  // The bytes of memory in use; takes some microseconds. Null: from the allocator.
  std::function<size_t()> used_bytes;

  std::string executable;   // the whole path of the program
  std::string config_file;  // the path of the configuration file; empty if there is none
};

// The databases and the clients. Runs one command at a time; has neither sockets nor a clock:
// requests and time come from outside.
class Engine {
 public:
  using Families = std::span<const std::span<const Command>>;

  Engine(const Settings& settings, Families families, uint64_t seed, Millis now, Host host);
  Engine(const Engine&) = delete;

  // A batch of requests follows: advances the time, and restarts the stopwatch. Each command is
  // timed from the end of the previous one, so that one reading of the stopwatch is enough.
  void BeginBatch(Millis now);

  // Advances the time, between commands. If the clock is set back the time goes back: deadlines are
  // instants of that clock.
  void AdvanceTo(Millis now);
  Millis now() const { return now_; }

  // The lifetime of a connection. The client's address must not change until Detach.
  uint64_t NextClientId() { return ++last_client_id_; }
  void Attach(Client& client);
  void Detach(Client& client);

  // Ends a client's connection: after the reply if its own command is running, or at once.
  void End(Client& client);

  // Closes the connection of a client that runs no command. It is detached at once; unsent output
  // is lost.
  void Disconnect(Client& client);

  // Resets the client to its initial state (RESET).
  void Reset(Client& client);

  // Discards the client's transaction, if it has one open, and its watches.
  void EndTransaction(Client& client);

  // Announces requests of the client that will be run, so that what they read can be prefetched,
  // together with that of other clients' requests, before the first of them runs.
  void Prefetch(const Client& client, std::span<const Args> requests);
  void FetchPrefetched() { key_prefetcher_.Fetch(); }

  // Runs, postpones or rejects a request: the reply is in client.output when this returns, or
  // begins there and continues in client.long_reply.
  void Execute(Client& client, Args argv);

  // Writes the next piece of the client's long reply, some kilobytes.
  void ContinueReply(Client& client);

  // Runs a queued request as part of the client's transaction. It was checked when it was queued,
  // but the user's permissions may have changed.
  void RunQueued(Client& client, const QueuedCommand& queued);

  // What runs scripts; null: nothing does. It outlives the engine's last request.
  void set_scripting(Scripting* scripting) { scripting_ = scripting; }
  Scripting* scripting() const { return scripting_; }

  // Runs a command of a script that `caller` has called: the reply is in session.client.output. A
  // refusal is the whole error line; the command has not run then.
  absl::Status RunInScript(ScriptSession& session, Client& caller, Args argv);

  // Whether the caller's user may run this in a script. The request fits the row's arity.
  bool MayRunInScript(const Client& caller, const Command& command, Args argv) const;

  // Sends the request to those who MONITOR, before it runs: with kSkipMonitor that is left to it.
  void SendToMonitors(const Client& client, const Command& command, Args argv);

  // When the command that is running began, by the stopwatch.
  Micros command_began_at() const { return command_ended_at_; }

  // Whether more than maxmemory is used, and eviction could not help, as of the last request.
  bool memory_is_short() const { return settings_.maxmemory > 0 && memory_is_short_; }

  // What other requests are answered while a script is suspended.
  std::string_view BusyError() const;

  // Whether a script is suspended.
  bool IsSuspended() const { return suspended_.has_value(); }

  // Puts the client's command aside until it can be served. False if it may not wait, for it is
  // part of a transaction.
  bool Block(Client& client, BlockedCommand wait);

  // Unblocks a client without serving it: with a null reply, as after a timeout, or with an error.
  void UnblockWithTimeout(Client& client);
  void UnblockWithError(Client& client, std::string_view error);

  // Starts or stops notifications of changed keys (CLIENT TRACKING).
  void StartTracking(Client& client, const TrackingMode& mode) { tracking_.Start(client, mode); }
  void StopTracking(Client& client);

  // A key to be read does not exist.
  void OnMiss(int database, std::string_view key);

  // How long memory use has exceeded maxmemory; 0 if it does not.
  Micros memory_short_for() const;
  bool IsMemoryShort() const { return memory_short_since_.has_value(); }

  // The client's memory has changed outside of its commands: its input has grown, its output has
  // been sent. Closes the largest clients if all together exceed their limit; this one may be among
  // them.
  void OnMemoryChange(Client& client);

  // Whether so much is unsent that the client must be closed (client-output-buffer-limit).
  bool IsStalled(Client& client) const;

  // The maximum length of a reply, which is abandoned when it exceeds it.
  size_t MostReplyBytes() const;

  // Closes the client whose command is running, because its reply exceeds that; not if CLIENT REPLY
  // discards it.
  void CloseForOutputLimit(Client& client);

  // Ends the waits whose time is up; wakes stalled clients and those that hold a large buffer for
  // nothing, closes idle ones, `hz` times a second at most; closes clients that take too much
  // memory; evicts keys if memory is short; and frees what is past its deadline, until nothing is
  // or `budget` is spent.
  void Tick(Micros budget);

  // The earliest deadline of a key (past if it is not deleted yet), a blocked client or a pause;
  // nothing if there is none. O(databases).
  std::optional<Millis> NextDeadline() const;

  // Deletes all keys of one database, or of all.
  void Clear(int database);
  void ClearAll();
  void SwapDatabases(int a, int b);

  // What receives the changes, so that they can be repeated elsewhere; null if nothing does. To be
  // set between commands.
  void set_journal(Journal* journal) { effects_.set_journal(journal); }
  Effects& effects() { return effects_; }

  // For Applier: while nothing is due, no key is past its deadline, whatever the time.
  void SetNothingDue(bool nothing_due);

  // What keeps the data on disk; null if nothing does. It outlives all requests.
  void set_persistence(Persistence* persistence) { persistence_ = persistence; }
  Persistence* persistence() const { return persistence_; }

  // Whether the last snapshot could not be kept, for which requests that write may be refused
  // (stop-writes-on-bgsave-error).
  void set_snapshots_fail(bool fail) { snapshots_fail_ = fail; }

  // When the client's replies may leave, with respect to the append-only log.
  Release ReleaseOf(const Client& client) const {
    if (persistence_ == nullptr || !persistence_->HoldsReplies()) [[likely]]
      return Release::kNow;
    const uint64_t position = std::max(client.propagated_until, client.read_until);
    if (position <= persistence_->DurablePosition()) return Release::kNow;
    return persistence_->MayBeLost(position) ? Release::kNever : Release::kLater;
  }

  // A round of requests is over, and its replies are about to be sent.
  void EndRound() {
    if (persistence_ == nullptr) return;
    persistence_->EndRound();
    if (!log_waits_.empty()) [[unlikely]]
      ServeLogWaits();
  }

  // The client is blocked, and is to be unblocked with this reply when what it has written is
  // durable in the append-only log.
  void AwaitLog(const Client& client, void (*reply)(ReplyWriter&));

  // Why the append-only log cannot be written at present; empty if it can.
  void set_log_error(std::string reason) { log_error_ = std::move(reason); }
  const std::string& log_error() const { return log_error_; }

  // Whether requests that write are refused because they might not be kept, and the error then.
  bool DiskForbidsWrites() const {
    return (snapshots_fail_ && settings_.stop_writes_on_bgsave_error && settings_.save.Any()) ||
           !log_error_.empty();
  }
  absl::Status DiskError() const;

  const std::vector<std::unique_ptr<Database>>& databases() const { return databases_; }
  Database& database(int index) { return *databases_[index]; }
  const Database& database(int index) const { return *databases_[index]; }
  int database_count() const { return static_cast<int>(databases_.size()); }

  const std::map<uint64_t, Client*>& clients() const { return clients_; }  // by age

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
  Channels& channels() { return channels_; }
  Watches& watches() { return watches_; }
  const BlockedClients& blocked_clients() const { return blocked_clients_; }
  ClientPause& pause() { return pause_; }
  ValueCopies& copies() { return copies_; }
  const Tracking& tracking() const { return tracking_; }
  size_t blocked_client_count() const { return blocked_clients_.count() + pause_.postponed(); }
  const AccessTracker& access_tracker() const { return access_tracker_; }
  const MemoryGauge& gauge() const { return gauge_; }
  Metrics& metrics() { return metrics_; }
  const Metrics& metrics() const { return metrics_; }
  Monitors& monitors() { return monitors_; }
  void ResetStats();
  Rng& rng() { return rng_; }
  const Host& host() const { return host_; }
  Millis started_at() const { return started_at_; }
  // Whether expired keys are deleted actively. They are never visible.
  void set_expires_unasked(bool expires) { expires_unasked_ = expires; }
  bool expires_unasked() const { return expires_unasked_; }

  // Whether idle and stalled clients are closed.
  void set_maintains_clients(bool looks) { maintains_clients_ = looks; }

  // How many changes of keys there were since the start, in Redis's way of counting
  // (Change::count).
  uint64_t change_count() const { return change_count_; }

  // Counts a change of what is kept on disk but is no key: of the libraries of functions.
  void CountChange() { ++change_count_; }

  // 40 digits that identify this history of the data.
  const std::string& replication_id() const { return replication_id_; }
  void ChangeReplicationId();

  const std::string& run_id() const { return run_id_; }  // 40 digits that no other run has

 private:
  // A command that is a suspended script, perhaps within a transaction.
  struct SuspendedCommand {
    Client* client;
    const Command* command;
    std::vector<std::string> argv;
    std::string reply;  // of the transaction until then
    Micros ran{0};      // since it was suspended first
  };

  void Answer(Client& client, Args argv);
  void RunAndPropagate(Call& call);
  void EndUnit(Client& client);
  void EndAnswer(Client& client, size_t reply_start);
  static bool UsesItsKeys(const Client& client, const Command& command);
  void Suspend(Client& client, const Command& command, Args argv);
  void KeepPartialReply(Client& client, size_t reply_start);
  void ContinueSuspended();
  void ContinueTransaction(Client& client);
  void ReplaceSuspendedClient(Client& leaving);
  void Dispatch(Client& client, Args argv);
  static bool Writes(const Client& client, const Command& command);
  absl::Status Admit(Client& client, const Command* command, Args argv);
  void RejectHttp(Client& client);
  void LogForeignCommand(const Client& client, std::string_view name);
  static void CloseNow(Client& client);
  void Reject(Client& client, const Command* command, const absl::Status& why);
  void Enqueue(Client& client, const Command& command, Args argv);
  void Run(Client& client, const Command& command, Args argv);
  void ApplySettings();
  bool LacksMemoryFor(const Client& client, const Command& command, Args argv);
  bool MakeRoom();
  bool EvictDownTo(size_t limit);
  int64_t Evict(const Evictor::Victim& victim);
  void RecordWithinLimit();
  void MaintainMemory();
  size_t ClientMemoryLimit() const;
  void EvictClients();
  void Record(Client& client, const Command& command, Args argv, Micros took);
  void CountWait(const Client& client);
  void RememberReads(Client& client, const Command& command, Args argv);
  bool HoldsReplies() const { return persistence_ != nullptr && persistence_->HoldsReplies(); }
  void HoldForReads(Client& client, const Command& command, Args argv);
  void EndException(Client& client, Args argv);
  size_t MostTrackedKeys() const { return static_cast<size_t>(settings_.tracking_table_max_keys); }
  void TrimTrackedKeys(Micros until);  // by the stopwatch
  void Drop(int database);
  void ReclaimDue(Micros until);  // by the stopwatch
  void FreeLater(std::shared_ptr<void> garbage, size_t bytes = 0, size_t objects = 1);
  void Finish(Client& client, size_t reply_start);
  void EndLongReply(Client& client);
  void LeaveOutUnwanted(Client& client, size_t reply_start);
  static void DeliverPushes(Client& client);
  void ServeWaiters();
  void RunAgain(Client& client, std::string_view ready_key);
  void EndWait(Client& client, size_t reply_start);
  void EndWaitWithError(Client& client, std::string_view error);
  void UnblockDueClients();
  void Unblock(Client& client, void (*reply)(ReplyWriter&));
  void ServeLogWaits();
  void RunPostponed();
  void OnChange(const Change& change);
  void PropagateEnd(const Change& change);
  void Publish(const Change& change);
  void ReclaimWatched(int index, Database& database);
  void MaintainClients();
  bool IsIdle(const Client& client) const;

  Settings settings_;
  Host host_;
  Effects effects_;
  CommandTable commands_;
  Metrics metrics_{commands_, settings_};
  std::vector<std::unique_ptr<Database>> databases_;
  std::map<uint64_t, Client*> clients_;
  AccessControl access_;
  Channels channels_;
  Watches watches_;
  BlockedClients blocked_clients_;
  ClientPause pause_;
  ValueCopies copies_;
  Monitors monitors_;
  KeyPrefetcher key_prefetcher_;
  Rng rng_;
  AccessTracker access_tracker_{rng_};
  Evictor evictor_{access_tracker_, rng_};
  MemoryGauge gauge_;
  Millis gauge_calibrated_at_{0};
  std::optional<Micros> memory_short_since_;  // by the stopwatch
  bool eviction_goes_on_ = false;             // it was cut short
  int64_t announcement_bytes_ = 0;            // of messages about the last eviction
  ClientWeights weights_;                     // weighs nothing while there is no limit
  Tracking tracking_;
  const Client* active_ = nullptr;  // whose command is running
  std::string run_id_;
  std::string replication_id_;
  Scripting* scripting_ = nullptr;
  std::optional<SuspendedCommand> suspended_;
  std::unique_ptr<Client> stand_in_;  // of the suspended command's client, which has left
  bool memory_is_short_ = false;
  Persistence* persistence_ = nullptr;
  bool snapshots_fail_ = false;
  bool nothing_due_ = false;
  std::string log_error_;
  struct LogWait {
    uint64_t client;  // by id
    uint64_t number;  // BlockedCommand::number
    void (*reply)(ReplyWriter&);
  };
  std::vector<LogWait> log_waits_;
  RecentChanges recent_changes_;
  bool expires_unasked_ = true;
  bool maintains_clients_ = true;
  uint64_t change_count_ = 0;
  Millis started_at_;
  Millis now_;
  Millis clients_maintained_at_{0};
  std::optional<Millis> browser_told_at_;
  absl::flat_hash_set<std::string_view> logged_foreign_commands_;  // by their names in that table
  Micros command_ended_at_;  // by the stopwatch, the last one; or the start of the batch
  uint64_t last_client_id_ = 0;
};

}  // namespace zsetd
