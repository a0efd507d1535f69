#include "server/engine/executor.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "server/engine/admin_call.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/request_checks.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/snapshot_control.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kReplyPieceBytes = 16u << 10;  // short elements: written in half a millisecond
constexpr Micros kDueBudget{1000};  // for clients that time serves, before a batch of requests
constexpr size_t kLowReplyLimit = 64u << 10;

// The error of a refused EXEC. As in Redis, the reason loses its plain code word.
std::string AbortLine(std::string_view reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return "EXECABORT Transaction discarded because of: " + std::string(reason);
}

constexpr std::string_view kLoadingError = "LOADING Redis is loading the dataset in memory";

// Whether requests are served from the old data while the master's data is loaded.
bool IsLoadingBeside(const Engine& engine) {
  const std::optional<LoadingStatus> loading = engine.services().snapshots->loading();
  return loading && loading->is_beside;
}

}  // namespace

Executor::Executor(Engine& engine)
    : engine_(engine),
      settings_(engine.settings()),
      host_(engine.host()),
      commands_(engine.commands()),
      effects_(engine.effects()),
      metrics_(engine.metrics()),
      store_(engine.store()),
      clients_(engine.clients()),
      access_(engine.access()),
      notifier_(engine.notifier()),
      reply_holds_(engine.reply_holds()),
      overdue_(store_, host_),
      command_ended_at_(host_.stopwatch()) {}

bool Executor::UsesItsKeys(const Client& client, const Command& command) {
  return !command.Has(kNoTouch) && (!client.no_touch || command.Has(kAlwaysTouch));
}

// Time does not advance during a script.
void Executor::AdvanceTo(Millis now) {
  if (now != store_.now() && !suspended_) store_.AdvanceTo(now);
}

void Executor::BeginBatch(Millis now) {
  AdvanceTo(now);
  ServeDueClients(kDueBudget);
  command_ended_at_ = host_.stopwatch();
}

void Executor::Prefetch(const Client& client, std::span<const Args> requests) {
  key_prefetcher_.Add(store_.database(client.database), commands_, requests);
}

// Clients are closed before keys are evicted: the buffers of other clients are weighed first.
void Executor::Execute(Client& client, Args argv) {
  clients_.Evict();
  if (client.connection.close_now) return;
  Answer(client, argv);
  RunPostponed();
}

void Executor::Answer(Client& client, Args argv) {
  const size_t reply_start = client.output.buffer.size();
  client.executing = true;
  notifier_.set_active(&client);
  client.connection.last_active = store_.now();
  client.reply.Begin();
  Dispatch(client, argv);
  const bool is_postponed = !client.postponed_request.empty();
  if (client.tracking().next_is_exception && !is_postponed) EndException(client, argv);
  EndAnswer(client, reply_start);
}

// While a unit is half done, nothing follows from its changes.
void Executor::EndAnswer(Client& client, size_t reply_start) {
  notifier_.set_active(nullptr);
  client.executing = false;
  if (client.suspended) return KeepPartialReply(client, reply_start);
  EndUnit(client);
  Finish(client, reply_start);
  if (suspended_) return;
  ServeWaiters();
  notifier_.Broadcast();
  clients_.OnMemoryChange(client);
}

// The effects of a suspended script wait for its end.
void Executor::EndUnit(Client& client) {
  if (suspended_) [[unlikely]]
    return;
  if (effects_.IsOn()) {
    const Effects::JournalPositions ends = effects_.Commit();
    if (ends.log > 0) client.propagated_until = ends.log;
    if (ends.stream > 0) client.streamed_until = static_cast<int64_t>(ends.stream);
  }
  if (!changes_after_unit_.empty()) [[unlikely]]
    MakeChangesAfterUnit();
  if (engine_.disk().flush_is_unsaved()) [[unlikely]]
    engine_.services().snapshots->SaveFlushed();
}

bool Executor::IsInTransaction() const {
  const Client* const active = notifier_.active();
  return suspended_ || (active != nullptr && active->transaction.running);
}

void Executor::AfterUnit(std::function<void()> change) {
  if (!IsInTransaction()) return change();
  changes_after_unit_.push_back(std::move(change));
}

void Executor::MakeChangesAfterUnit() {
  for (const auto& change : std::exchange(changes_after_unit_, {})) change();
}

// EXEC and EVAL are not propagated; the commands they run are.
void Executor::RunAndPropagate(AdminCall& call) {
  if (!effects_.IsOn()) return call.command.run(call);
  const uint64_t changes_before = store_.change_count();
  effects_.set_stated(false);
  call.command.run(call);
  const bool is_its_own_effect = call.command.Has(kWrite) && !effects_.is_stated();
  if (is_its_own_effect && store_.change_count() != changes_before) call.PropagateRequest();
}

// Ends the exception of CLIENT CACHING: it applies to one command or transaction, and not to
// another CLIENT command.
void Executor::EndException(Client& client, Args argv) {
  const bool goes_on = client.transaction.open || EqualsIgnoringCase(argv[0], "client");
  Tracking::SetException(client, goes_on);
}

void Executor::Dispatch(Client& client, Args argv) {
  const Command* command = commands_.Find(argv);
  if (command == nullptr && IsHttp(argv)) return clients_.RejectHttp(client);
  if (command == nullptr && !access_.MustAuthenticate(client)) LogForeignCommand(client, argv[0]);
  const absl::Status admitted = Admit(client, command, argv);
  if (!admitted.ok()) return Reject(client, command, admitted);
  ClientPause& pause = clients_.pause();
  const bool may_pause = !client.IsReplica();  // or the master would take it for dead
  const Millis now = store_.now();
  if (may_pause && pause.IsOn(now) && pause.Holds(client, FlagsOf(*command, argv), now)) {
    return pause.Postpone(client, argv);
  }
  if (client.transaction.open && !command->Has(kNotQueuedInMulti)) {
    return Enqueue(client, *command, argv);
  }
  if (MustWaitForExpiry(client, *command, argv)) [[unlikely]] {
    return overdue_.Postpone(client, argv);
  }
  Run(client, *command, argv);
}

// A program that needs a missing command often retries without a message of its own; the log line
// explains why it makes no progress. One line per command, so the table bounds their number.
void Executor::LogForeignCommand(const Client& client, std::string_view name) {
  const ForeignCommand* const foreign = FindForeignCommand(name);
  if (foreign == nullptr || !logged_foreign_commands_.insert(foreign->name).second) return;
  constexpr size_t kMostLibraryBytes = 128;
  const std::string library =
      client.lib_name.empty()
          ? "not named"
          : (client.lib_name + " " + client.lib_version).substr(0, kMostLibraryBytes);
  host_.log->Write(LogLevel::kWarning,
                   "A client asked for " + UpperCase(foreign->name) +
                       ", which Redis has and zsetd does not (" + std::string(foreign->categories) +
                       "); its address: " + client.address + ", its library: " + library +
                       ". Later requests for it are refused without a line here");
}

absl::Status Executor::Admit(Client& client, const Command* command, Args argv) {
  absl::Status status = CheckRequest(client, settings_, access_, command, argv);
  if (!status.ok()) return status;
  client.last_command = command->name;
  if (const auto denial = access_.Check(client, *command, argv, store_.now())) {
    return Refusal(DenialLine(*denial, *client.user(), *command));
  }
  const bool is_loading = engine_.disk().loading();
  const bool evicts = settings_.maxmemory > 0 && !is_loading && !suspended_;
  if (evicts && LacksMemoryFor(client, *command, argv)) return Refusal(kOutOfMemory);
  const bool keeps = command->Has(kFailsUnsaved);
  if (engine_.disk().ForbidsWrites() && (keeps || Involves(client, *command, argv, kWrite)))
      [[unlikely]] {
    return engine_.disk().Error();
  }
  if (engine_.replication().Restricts()) [[unlikely]] {
    status = CheckRole(client, *command, argv);
    if (!status.ok()) return status;
  }
  if (is_loading && Lacks(client, *command, argv, kLoading)) [[unlikely]] {
    return Refusal(kLoadingError);
  }
  if (Involves(client, *command, argv, kNoAsyncLoading) && IsLoadingBeside(engine_)) [[unlikely]] {
    return Refusal(kLoadingError);
  }
  if (suspended_ && !command->Has(kAllowBusy)) [[unlikely]] {
    return Refusal(BusyError());
  }
  return CheckContext(client, *command);
}

// The refusals of a replica, and of a master that lacks replicas.
absl::Status Executor::CheckRole(const Client& client, const Command& command, Args argv) const {
  const ReplicationState& replication = engine_.replication();
  absl::Status status;
  if (Involves(client, command, argv, kWrite)) status = replication.CheckWrite();
  return status.ok() && Lacks(client, command, argv, kStale) ? replication.CheckStale() : status;
}

// Returns the flags that apply to this request: a script may declare other ones than its row has.
uint32_t Executor::FlagsOf(const Command& command, Args argv) const {
  if (command.request_flags == nullptr) [[likely]]
    return command.flags;
  return command.request_flags(command, argv, *engine_.services().scripting);
}

bool Executor::HasFlag(const Command& command, Args argv, CommandFlag flag) const {
  if ((flag & kDeclaredFlags) == 0) return command.Has(flag);
  return (FlagsOf(command, argv) & flag) != 0;
}

// Whether the request has the flag; or, if it runs a transaction, one of the queued requests.
bool Executor::Involves(const Client& client, const Command& command, Args argv,
                        CommandFlag flag) const {
  if (!command.Has(kRunsTransaction)) return HasFlag(command, argv, flag);
  return std::ranges::any_of(client.transaction.queue, [flag](const QueuedCommand& queued) {
    return (queued.flags & flag) != 0;
  });
}

// Whether the request lacks the flag; or, if it runs a transaction, one of the queued requests.
bool Executor::Lacks(const Client& client, const Command& command, Args argv,
                     CommandFlag flag) const {
  if (!HasFlag(command, argv, flag)) return true;
  if (!command.Has(kRunsTransaction)) return false;
  return !std::ranges::all_of(client.transaction.queue, [flag](const QueuedCommand& queued) {
    return (queued.flags & flag) != 0;
  });
}

void Executor::Reject(Client& client, const Command* command, const absl::Status& why) {
  if (command != nullptr) metrics_.CountRejected(*command);
  std::string line(ErrorLine(why));
  if (command != nullptr && command->Has(kEndsTransaction)) {
    notifier_.EndTransaction(client);
    line = AbortLine(line);
  }
  if (client.transaction.open) client.transaction.broken = true;
  client.reply.Error(line);
  metrics_.CountError(line);
}

void Executor::Enqueue(Client& client, const Command& command, Args argv) {
  Transaction& transaction = client.transaction;
  const uint32_t flags = FlagsOf(command, argv);
  transaction.may_take_memory |= (flags & kDenyOom) != 0;
  transaction.may_write |= (flags & kWrite) != 0;
  transaction.queue.push_back({&command, OwnedArgs(argv), flags});
  transaction.queue_bytes += transaction.queue.back().argv.allocated_bytes();
  client.reply.Simple("QUEUED");
}

void Executor::Run(Client& client, const Command& command, Args argv) {
  const Micros before = command_ended_at_;
  store_.access_tracker().set_records(UsesItsKeys(client, command));
  AdminCall call(engine_, client, command, argv);
  RunAndPropagate(call);
  if (call.waits()) Block(client, call);
  if (client.suspended) [[unlikely]] {
    return Suspend(client, command, argv);
  }
  if (command.Has(kReadOnly) && client.tracking().on) {
    notifier_.RememberReads(client, command, argv);
  }
  if (reply_holds_.IsOn()) [[unlikely]]
    reply_holds_.HoldForReads(client, command, argv);
  command_ended_at_ = host_.stopwatch();
  Record(client, command, argv, command_ended_at_ - before);
  if (call.refused()) metrics_.CountFailed(command);
  ++client.commands_run;
}

// Records a command that has run, and sends it to the monitors. One that blocks now is counted when
// it ends.
void Executor::Record(Client& client, const Command& command, Args argv, Micros took) {
  metrics_.CountRun(took);
  if (client.blocked) {
    client.blocked->used += took;
  } else {
    metrics_.CountCall(client, command, argv, took, store_.now());
  }
  metrics_.RecordLatency(command.Has(kFast) ? "fast-command"sv : "command"sv, took, store_.now());
  if (!command.Has(kSkipMonitor)) notifier_.SendToMonitors(client, command, argv);
}

void Executor::RunQueued(Client& client, const QueuedCommand& queued) {
  const Args argv = queued.argv.argv();
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  if (const auto denial = access_.Check(client, *queued.command, argv, store_.now())) {
    return Reject(client, queued.command, Refusal(DenialLineInExec(*denial)));
  }
  Run(client, *queued.command, argv);
  if (client.suspended) return;
  const bool is_too_long =
      client.reply.IsFull() || client.output.buffer.size() > clients_.MostReplyBytes();
  if (is_too_long && !client.connection.close_now) clients_.CloseForOutputLimit(client);
  if (client.connection.close_now)
    client.output.buffer.Truncate(reply_start);  // the rest runs, without replies
}

// A blocked command has no reply yet: CLIENT REPLY SKIP still refers to it.
void Executor::Finish(Client& client, size_t reply_start) {
  if (!client.IsWaiting()) LeaveOutUnwanted(client, reply_start);
  if (client.reply.IsFull() && !client.connection.close_now) clients_.CloseForOutputLimit(client);
  if (!client.output.long_reply) DeliverPushes(client);
}

// Discards the reply if CLIENT REPLY is off.
void Executor::LeaveOutUnwanted(Client& client, size_t reply_start) {
  using Mode = ClientOutput::ReplyMode;
  const Mode mode = client.output.reply_mode;
  if (!client.output.RepliesEnabled()) {
    client.output.buffer.Truncate(reply_start);
    clients_.EndLongReply(client);
  }
  if (mode == Mode::kSkipThis) client.output.reply_mode = Mode::kOn;
  if (mode == Mode::kSkipNext) client.output.reply_mode = Mode::kSkipThis;
}

void Executor::DeliverPushes(Client& client) {
  if (client.output.pending_pushes.empty()) return;
  client.output.buffer.Take(client.output.pending_pushes);
}

void Executor::ContinueReply(Client& client) {
  // A low limit is exceeded by the first piece, as it is in Redis, which writes the whole reply.
  const bool is_limit_low = clients_.MostReplyBytes() < kLowReplyLimit;
  const size_t enough =
      client.output.buffer.size() + (is_limit_low ? kLowReplyLimit : kReplyPieceBytes);
  bool more = true;
  while (more && client.output.buffer.size() < enough && !client.reply.IsFull()) {
    more = client.output.long_reply->WriteNext(client.reply);
  }
  client.NoteMemory();
  if (client.reply.IsFull()) return clients_.CloseForOutputLimit(client);
  if (more) return;
  clients_.EndLongReply(client);
  DeliverPushes(client);
}

void Executor::Tick(Micros budget) {
  if (suspended_) return ContinueSuspended();
  metrics_.Sample(store_.now(), store_.gauge().uncounted_bytes());
  ServeDueClients(budget);
  UnblockDueClients();
  RunPostponed();
  if (suspended_) return;
  clients_.Maintain();
  clients_.Evict();
  if (settings_.maxmemory > 0) store_.CalibrateGauge();
  if (settings_.maxmemory > 0) MakeRoom();
  notifier_.TrimTrackedKeys(budget);
  engine_.tasks().Tick(budget);
  if (clients_.IsPaused() || engine_.disk().loading()) return;
  RunOverdue(budget);
  if (suspended_) return;
  if (engine_.replication().is_replica()) {
    if (!store_.DeleteOwnExpired(budget)) return;
  } else {
    store_.DeleteExpired(budget);
  }
  ServeWaiters();
  notifier_.Broadcast();
}

std::optional<Millis> Executor::NextDeadline() const {
  const Millis now = store_.now();
  if (suspended_) return now;
  std::optional<Millis> earliest = notifier_.blocked_clients().NextDeadline();
  const auto consider = [&](std::optional<Millis> next) {
    if (next && (!earliest || *next < *earliest)) earliest = next;
  };
  consider(clients_.pause().NextDeadline(now));
  if (store_.IsEvictionDue() || notifier_.HasTooManyTrackedKeys()) consider(now);
  if (engine_.tasks().HasWork()) consider(now);
  // In a pause no key changes, and the master decides when its keys expire on a replica.
  if (clients_.IsPaused()) return earliest;
  if (!overdue_.empty()) consider(now);
  if (engine_.replication().is_replica()) {
    consider(store_.NextOwnDeadline());
    return earliest;
  }
  consider(store_.NextDeadline());
  consider(notifier_.blocked_clients().NextDue());
  return earliest;
}

// While clients are paused, a script is suspended, or data is loaded, no key is evicted; nor on a
// replica.
void Executor::MakeRoom() {
  const ReplicationState& replication = engine_.replication();
  const bool is_loading =
      engine_.disk().loading() || (replication.is_replica() && IsLoadingBeside(engine_));
  const bool may_not =
      clients_.IsPaused() || suspended_ || is_loading || replication.LeavesEvictionToMaster();
  if (may_not) return store_.PostponeEviction();
  store_.MakeRoom();
}

// While clients are paused writes are held back rather than refused; but what the server keeps for
// clients is limited all the same.
//
// While memory suffices, this must stay negligible compared with the cheapest command. To count its
// instructions:
//
//   valgrind --tool=callgrind --callgrind-out-file=counts build/release/zsetd --maxmemory 100gb
//   redis-benchmark -n 48000 -r 1000 -P 16 -c 1 ZADD board __rand_int__ member:__rand_int__
//   callgrind_annotate --inclusive=yes counts | grep LacksMemoryFor
bool Executor::LacksMemoryFor(const Client& client, const Command& command, Args argv) {
  if (engine_.replication().LeavesEvictionToMaster()) return false;
  if (!clients_.IsPaused()) {
    MakeRoom();
    return store_.LacksMemory() && MayTakeMemory(client, command, FlagsOf(command, argv), argv);
  }
  const auto limit = static_cast<size_t>(settings_.maxmemory);
  return store_.gauge().Used() > limit && MayKeepMore(client, command, argv);
}

void Executor::EndRound() {
  engine_.tasks().EndRound();
  if (!acknowledgement_waits_.empty()) [[unlikely]]
    ServeAcknowledgementWaits();
}

void Executor::OnApplied() {
  ServeWaiters();
  notifier_.Broadcast();
}

void Executor::OnLeave(Client& client) {
  engine_.tasks().OnLeave(client);
  engine_.shutdown().OnLeave(client);
  overdue_.Remove(client);
  if (suspended_ && suspended_->client == &client) ReplaceSuspendedClient(client);
}

}  // namespace zsetd
