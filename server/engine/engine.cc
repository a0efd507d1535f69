#include "server/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "server/engine/call.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/request_checks.h"
#include "server/engine/services.h"
#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kReplyPieceBytes = 16u << 10;  // short elements: written in half a millisecond
constexpr size_t kLowReplyLimit = 64u << 10;

std::string RandomHexDigits(Rng& rng, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  while (digits.size() < count) digits += kDigits[rng.Next() % 16];
  return digits;
}

// What EXEC says when it is itself refused. As in Redis the reason loses its plain code word.
std::string AbortLine(std::string_view reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return "EXECABORT Transaction discarded because of: " + std::string(reason);
}

}  // namespace

Engine::Engine(const Settings& settings, Families families, uint64_t seed, Millis now, Host host)
    : settings_(settings),
      host_(std::move(host)),
      commands_(families),
      access_(commands_, clients_, settings_, metrics_.stats(),
              [this](Client& client) { End(client); }),
      rng_(seed),
      gauge_(host_.used_bytes ? MemoryGauge(host_.used_bytes, {})
                              : MemoryGauge(UsedBytes, CountsOfThisThread())),
      tracking_(rng_.Next(), clients_),
      run_id_(RandomHexDigits(rng_, 40)),
      replication_id_(RandomHexDigits(rng_, 40)),
      started_at_(now),
      now_(now),
      command_ended_at_(host_.stopwatch()) {
  const uint64_t hash_seed = rng_.Next();
  access_tracker_.AdvanceTo(now);
  for (int index = 0; index < settings.databases; ++index) {
    databases_.push_back(std::make_unique<Database>(
        index, hash_seed, [this](const Change& change) { OnChange(change); },
        [this](std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
          FreeLater(std::move(garbage), bytes, objects);
        },
        &access_tracker_));
    databases_.back()->AdvanceTo(now);
  }
  ApplySettings();
}

bool Engine::UsesItsKeys(const Client& client, const Command& command) {
  return !command.Has(kNoTouch) && (!client.no_touch || command.Has(kAlwaysTouch));
}

// In a script time stands still.
void Engine::AdvanceTo(Millis now) {
  if (now == now_ || suspended_) return;
  now_ = now;
  access_tracker_.AdvanceTo(now);
  if (nothing_due_) return;
  for (const auto& database : databases_) database->AdvanceTo(now);
}

void Engine::SetNothingDue(bool nothing_due) {
  nothing_due_ = nothing_due;
  for (const auto& database : databases_) {
    database->AdvanceTo(nothing_due ? Millis::min() : now_);
  }
}

void Engine::BeginBatch(Millis now) {
  AdvanceTo(now);
  command_ended_at_ = host_.stopwatch();
}

absl::Status Engine::Prepare() {
  for (const auto& [name, new_name] : settings_.renamed_commands) {
    if (commands_.Rename(name, new_name)) continue;
    const bool is_known = commands_.Find(name) != nullptr;
    if (!is_known && FindForeignCommand(name) != nullptr) continue;  // it has no name here to take
    return Refusal(
        "rename-command " + name + ": " +
        (is_known ? "Target command name already exists" : "No such command in rename-command"));
  }
  return access_.LoadConfigured();
}

absl::Status Engine::Configure(const Settings& settings) {
  absl::Status applied = host_.apply ? host_.apply(settings) : absl::OkStatus();
  if (!applied.ok()) return applied;
  if (persistence_ != nullptr) applied = persistence_->Apply(settings);
  if (!applied.ok()) {
    if (host_.apply) host_.apply(settings_).IgnoreError();
    return applied;
  }
  if (settings.requirepass != settings_.requirepass) {
    access_.SetDefaultPassword(settings.requirepass);
  }
  settings_ = settings;
  ApplySettings();
  return absl::OkStatus();
}

// Applies the settings that are not read where they are used.
void Engine::ApplySettings() {
  access_tracker_.set_rule({.lfu = IsLfu(settings_.maxmemory_policy),
                            .log_factor = settings_.lfu_log_factor,
                            .decay_minutes = settings_.lfu_decay_time});
  gauge_.Calibrate();
  eviction_goes_on_ = settings_.maxmemory > 0;  // soon, and not within CONFIG SET
  weights_.Switch(settings_.maxmemory_clients != 0);
  for (const auto& [id, client] : clients_) {
    client->reply.set_most_bytes(MostReplyBytes());
    client->NoteMemory();
  }
}

size_t Engine::MostReplyBytes() const {
  const int64_t limit = settings_.client_output_buffer_limit.normal.hard_bytes;
  if (limit == 0) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(limit) + Client::kUncountedOutput;
}

void Engine::Prefetch(const Client& client, std::span<const Args> requests) {
  key_prefetcher_.Add(*databases_[client.database], commands_, requests);
}

// Clients go before keys do: what others were sent meanwhile, or have sent, is weighed first.
void Engine::Execute(Client& client, Args argv) {
  if (weights_.is_on()) EvictClients();
  if (client.close_now) return;
  Answer(client, argv);
  RunPostponed();
}

void Engine::Answer(Client& client, Args argv) {
  const size_t reply_start = client.output.size();
  client.executing = true;
  active_ = &client;
  client.last_active = now_;
  client.reply.Begin();
  Dispatch(client, argv);
  if (client.tracking.next_is_exception) EndException(client, argv);
  EndAnswer(client, reply_start);
}

// While a unit is half done, nothing follows from its changes.
void Engine::EndAnswer(Client& client, size_t reply_start) {
  active_ = nullptr;
  client.executing = false;
  if (client.suspended) return KeepPartialReply(client, reply_start);
  EndUnit(client);
  Finish(client, reply_start);
  if (suspended_) return;
  ServeWaiters();
  tracking_.Broadcast();
  if (!weights_.is_on()) return;
  client.NoteMemory();
  EvictClients();
}

// What a suspended script has propagated so far waits for its end.
void Engine::EndUnit(Client& client) {
  if (!effects_.IsOn() || suspended_) return;
  const uint64_t end = effects_.Commit();
  if (end > 0) client.propagated_until = end;
}

// Of commands that run others, such as EXEC and EVAL, it is those that are propagated.
void Engine::RunAndPropagate(Call& call) {
  if (!effects_.IsOn()) return call.command.run(call);
  const uint64_t changes_before = change_count_;
  effects_.set_stated(false);
  call.command.run(call);
  const bool is_its_own_effect = call.command.Has(kWrite) && !effects_.is_stated();
  if (is_its_own_effect && change_count_ != changes_before) call.PropagateRequest();
}

// Ends the exception of CLIENT CACHING: it applies to one command or transaction, and not to
// another CLIENT command.
void Engine::EndException(Client& client, Args argv) {
  const bool goes_on = client.transaction.open || EqualsIgnoringCase(argv[0], "client");
  client.tracking.next_is_exception = goes_on;
}

void Engine::Dispatch(Client& client, Args argv) {
  const Command* command = commands_.Find(argv);
  if (command == nullptr && IsHttp(argv)) return RejectHttp(client);
  if (command == nullptr && !access_.MustAuthenticate(client)) LogForeignCommand(client, argv[0]);
  const absl::Status admitted = Admit(client, command, argv);
  if (!admitted.ok()) return Reject(client, command, admitted);
  if (pause_.Holds(client, *command, now_)) return pause_.Postpone(client, argv);
  if (client.transaction.open && !command->Has(kNotQueuedInMulti)) {
    return Enqueue(client, *command, argv);
  }
  Run(client, *command, argv);
}

// A program that needs a missing command often only retries, without a message of its own: the log
// says why it makes no progress. Once per command, so that the table bounds the number of lines.
void Engine::LogForeignCommand(const Client& client, std::string_view name) {
  const ForeignCommand* const foreign = FindForeignCommand(name);
  if (foreign == nullptr || !logged_foreign_commands_.insert(foreign->name).second) return;
  constexpr size_t kMostLibraryBytes = 128;
  const std::string library =
      client.lib_name.empty()
          ? "not named"
          : (client.lib_name + " " + client.lib_version).substr(0, kMostLibraryBytes);
  host_.log("A client asked for " + UpperCase(foreign->name) +
            ", which Redis has and zsetd does not (" + std::string(foreign->categories) +
            "); its address: " + client.address + ", its library: " + library +
            ". Later requests for it are refused without a line here");
}

absl::Status Engine::Admit(Client& client, const Command* command, Args argv) {
  absl::Status status = CheckRequest(client, settings_, access_, command, argv);
  if (!status.ok()) return status;
  client.last_command = command->name;
  if (const auto denial = access_.Check(client, *command, argv, now_)) {
    return Refusal(DenialLine(*denial, *client.user, *command));
  }
  if (suspended_ && !command->Has(kAllowBusy)) [[unlikely]] {
    return Refusal(BusyError());
  }
  if (settings_.maxmemory > 0 && LacksMemoryFor(client, *command, argv)) {
    return Refusal(kOutOfMemory);
  }
  if (DiskForbidsWrites() && Writes(client, *command)) [[unlikely]] {
    return DiskError();
  }
  return CheckContext(client, *command);
}

absl::Status Engine::DiskError() const {
  if (log_error_.empty()) return Refusal(kSnapshotsFail);
  return Refusal("MISCONF Errors writing to the AOF file: " + log_error_);
}

bool Engine::Writes(const Client& client, const Command& command) {
  if (command.Has(kRunsTransaction)) {
    return std::ranges::any_of(client.transaction.queue, [](const QueuedCommand& queued) {
      return queued.command->Has(kWrite);
    });
  }
  return command.HasAny(kWrite | kFailsUnsaved);
}

void Engine::Reject(Client& client, const Command* command, const absl::Status& why) {
  if (command != nullptr) metrics_.CountRejected(*command);
  std::string line(ErrorLine(why));
  if (command != nullptr && command->Has(kEndsTransaction)) {
    EndTransaction(client);
    line = AbortLine(line);
  }
  if (client.transaction.open) client.transaction.broken = true;
  client.reply.Error(line);
  metrics_.CountError(line);
}

void Engine::Enqueue(Client& client, const Command& command, Args argv) {
  Transaction& transaction = client.transaction;
  transaction.may_take_memory |= command.Has(kDenyOom);
  transaction.may_write |= command.Has(kWrite);
  transaction.queue.push_back({&command, OwnedArgs(argv)});
  transaction.queue_bytes += transaction.queue.back().argv.allocated_bytes();
  client.reply.Simple("QUEUED");
}

void Engine::Run(Client& client, const Command& command, Args argv) {
  const Micros before = command_ended_at_;
  access_tracker_.set_records(UsesItsKeys(client, command));
  Call call(*this, client, command, argv);
  RunAndPropagate(call);
  if (client.suspended) [[unlikely]] {
    return Suspend(client, command, argv);
  }
  if (command.Has(kReadOnly) && client.tracking.on) RememberReads(client, command, argv);
  if (HoldsReplies()) [[unlikely]]
    HoldForReads(client, command, argv);
  command_ended_at_ = host_.stopwatch();
  Record(client, command, argv, command_ended_at_ - before);
  if (call.refused()) metrics_.CountFailed(command);
  ++client.commands_run;
}

// Records a command that has run, and sends it to the monitors. One that blocks now is counted when
// it ends.
void Engine::Record(Client& client, const Command& command, Args argv, Micros took) {
  metrics_.CountRun(took);
  if (client.blocked) {
    client.blocked->used += took;
  } else {
    metrics_.CountCall(client, command, argv, took, now_);
  }
  metrics_.RecordLatency(command.Has(kFast) ? "fast-command"sv : "command"sv, took, now_);
  if (!command.Has(kSkipMonitor)) SendToMonitors(client, command, argv);
}

void Engine::RememberReads(Client& client, const Command& command, Args argv) {
  if (!client.tracking.RemembersReads()) return;
  for (const size_t position : KeyPositions(command, argv)) {
    tracking_.Remember(client, argv[position], MostTrackedKeys(), rng_);
  }
}

// Nobody is told what a crash of the machine could take back. A command that writes may also have
// found that there is nothing to change.
void Engine::HoldForReads(Client& client, const Command& command, Args argv) {
  if (!command.Has(kReadOnly) && !command.Has(kWrite)) return;
  uint64_t position = 0;
  const std::vector<size_t> keys = KeyPositions(command, argv);
  for (const size_t key : keys) {
    position = std::max(position, recent_changes_.Of(client.database, argv[key]));
  }
  if (keys.empty()) position = recent_changes_.latest();  // SCAN, DBSIZE and their like
  client.read_until = std::max(client.read_until, position);
}

void Engine::RunQueued(Client& client, const QueuedCommand& queued) {
  const Args argv = queued.argv.argv();
  const size_t reply_start = client.output.size();
  client.reply.Begin();
  if (const auto denial = access_.Check(client, *queued.command, argv, now_)) {
    return Reject(client, queued.command, Refusal(DenialLineInExec(*denial)));
  }
  Run(client, *queued.command, argv);
  if (client.suspended) return;
  if (client.output.size() > MostReplyBytes() && !client.close_now) CloseForOutputLimit(client);
  if (client.close_now) client.output.Truncate(reply_start);  // the rest runs, without replies
}

// A blocked command has no reply yet: CLIENT REPLY SKIP still refers to it.
void Engine::Finish(Client& client, size_t reply_start) {
  if (!client.IsWaiting()) LeaveOutUnwanted(client, reply_start);
  if (client.reply.IsFull() && !client.close_now) CloseForOutputLimit(client);
  if (!client.long_reply) DeliverPushes(client);
}

// Discards the reply if CLIENT REPLY says so.
void Engine::LeaveOutUnwanted(Client& client, size_t reply_start) {
  using Mode = Client::ReplyMode;
  const Mode mode = client.reply_mode;
  if (!client.RepliesEnabled()) {
    client.output.Truncate(reply_start);
    EndLongReply(client);
  }
  if (mode == Mode::kSkipThis) client.reply_mode = Mode::kOn;
  if (mode == Mode::kSkipNext) client.reply_mode = Mode::kSkipThis;
}

void Engine::DeliverPushes(Client& client) {
  if (client.pending_pushes.empty()) return;
  client.output.Take(client.pending_pushes);
}

void Engine::ContinueReply(Client& client) {
  // A low limit is exceeded by the first piece, as it is in Redis, which writes the whole reply.
  const bool is_limit_low = MostReplyBytes() < kLowReplyLimit;
  const size_t enough = client.output.size() + (is_limit_low ? kLowReplyLimit : kReplyPieceBytes);
  bool more = true;
  while (more && client.output.size() < enough && !client.reply.IsFull()) {
    more = client.long_reply->WriteNext(client.reply);
  }
  client.NoteMemory();
  if (client.reply.IsFull()) return CloseForOutputLimit(client);
  if (more) return;
  EndLongReply(client);
  DeliverPushes(client);
}

void Engine::ChangeReplicationId() { replication_id_ = RandomHexDigits(rng_, 40); }

void Engine::ResetStats() {
  metrics_.Reset();
  gauge_.ResetFreedObjects();
}

void Engine::Tick(Micros budget) {
  if (suspended_) return ContinueSuspended();
  metrics_.Sample(now_);
  UnblockDueClients();
  RunPostponed();
  MaintainClients();
  if (weights_.is_on()) EvictClients();
  MaintainMemory();
  TrimTrackedKeys(host_.stopwatch() + budget);
  if (persistence_ != nullptr) persistence_->Tick();
  if (pause_.IsOn(now_)) return;
  const Micros start = host_.stopwatch();
  ReclaimDue(start + budget);
  const Micros took = host_.stopwatch() - start;
  metrics_.stats().expiry_time += took;
  metrics_.RecordLatency("expire-cycle", took, now_);
  tracking_.Broadcast();
}

std::optional<Millis> Engine::NextDeadline() const {
  if (suspended_) return now_;
  std::optional<Millis> earliest = blocked_clients_.NextDeadline();
  const auto consider = [&](std::optional<Millis> next) {
    if (next && (!earliest || *next < *earliest)) earliest = next;
  };
  consider(pause_.NextDeadline(now_));
  if (eviction_goes_on_ || tracking_.HasMoreKeysThan(MostTrackedKeys())) consider(now_);
  if (persistence_ != nullptr && persistence_->HasWork()) consider(now_);
  if (pause_.IsOn(now_)) return earliest;  // so long no key goes
  if (!expires_unasked_) return earliest;
  for (const auto& database : databases_) {
    if (database->keys().with_deadline() == 0) continue;  // most: this is called for every batch
    consider(database->keys().NextDeadline());
  }
  return earliest;
}

}  // namespace zsetd
