#include "server/engine/executor.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/engine/command_run.h"
#include "server/engine/engine.h"
#include "server/engine/notify/active_client.h"
#include "server/engine/request/request_checks.h"
#include "server/engine/services/background_task.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr Micros kDueBudget{1000};  // for clients that time serves, before a batch of requests
constexpr Micros kPostponedBudget{1000};  // for postponed requests, when a request ends the pause

// The error of a refused EXEC. As in Redis, the reason loses its plain code word.
std::string AbortLine(std::string_view reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return "EXECABORT Transaction discarded because of: " + std::string(reason);
}

// Whether clients are paused for other reasons than a migration of slots.
bool IsPausedByOthers(const ClientPause& pause, Millis now) {
  using Cause = ClientPause::Cause;
  return std::ranges::any_of(std::array{Cause::kCommand, Cause::kFailover, Cause::kShutdown},
                             [&](Cause cause) { return pause.IsOn(cause, now); });
}

}  // namespace

Executor::Executor(Engine& engine)
    : engine_(engine),
      host_(engine.host()),
      commands_(engine.commands()),
      metrics_(engine.metrics()),
      store_(engine.store()),
      clients_(engine.clients()),
      notifier_(engine.notifier()),
      clock_(engine.clock()),
      blocked_runner_(engine.blocked_runner()),
      suspended_(engine.suspended_unit()),
      mode_(engine.mode()),
      admission_(engine),
      replies_(clients_),
      overdue_(store_, host_) {}

// Time does not advance during a script.
void Executor::AdvanceTo(Millis now) {
  if (now != store_.now() && mode_.IsBetweenUnits()) store_.AdvanceTo(now);
}

void Executor::BeginBatch(Millis now) {
  AdvanceTo(now);
  blocked_runner_.ServeDue(kDueBudget);
  clock_.Restart();
}

// Clients are closed before keys are evicted: the buffers of other clients are weighed first.
void Executor::Execute(Client& client, Args argv) {
  clients_.Evict();
  if (client.connection.close_now) return;
  Process(client, argv);
  if (clients_.pause().HasUnreleased() && !clients_.IsPaused()) [[unlikely]]
    RunPostponed(kPostponedBudget);
}

void Executor::Process(Client& client, Args argv) {
  const size_t reply_start = client.output.buffer.size();
  client.connection.last_active = store_.now();
  client.reply.Begin();
  std::optional<Unit> unit = AdmitActive(client, argv);
  if (engine_.settings().cluster_slot_stats_enabled && unit) [[unlikely]]
    CountTraffic(client, argv, reply_start);
  if (client.suspended) [[unlikely]]
    return suspended_.KeepReply(reply_start);
  if (unit) engine_.units().End(std::move(*unit), client);
  EndRequest(client, reply_start);
}

// Admits the request, and ends the exceptions that applied to it.
std::optional<Unit> Executor::AdmitActive(Client& client, Args argv) {
  const ActiveClient active(notifier_, client);
  std::optional<Unit> unit = Admit(client, argv);
  if (client.tracking().next_is_exception || client.asking) [[unlikely]] {
    if (client.postponed_request.empty()) EndExceptions(client, argv);
  }
  return unit;
}

// A request counts as if it had arrived as an array of RESP.
void Executor::CountTraffic(const Client& client, Args argv, size_t reply_start) {
  if (!client.slot) return;
  constexpr size_t kFrameBytes = 5;  // of an array or a word, without the digits of its length
  const auto digits = [](size_t number) {
    size_t count = 1;
    for (; number >= 10; number /= 10) ++count;
    return count;
  };
  size_t bytes = kFrameBytes - 2 + digits(argv.size());
  for (const std::string_view word : argv) {
    bytes += kFrameBytes + digits(word.size()) + word.size();
  }
  const size_t end = client.output.buffer.size();
  metrics_.slots().AddTraffic(*client.slot, bytes, end - std::min(reply_start, end));
}

// No other request of the client has run since the one that replies.
void Executor::ContinueReply(Client& client) {
  const size_t start = client.output.buffer.size();
  replies_.Continue(client);
  if (engine_.settings().cluster_slot_stats_enabled && client.slot) [[unlikely]] {
    const size_t end = client.output.buffer.size();
    metrics_.slots().AddTraffic(*client.slot, 0, end - std::min(start, end));
  }
}

// While a unit is half done, nothing follows from its changes.
void Executor::EndRequest(Client& client, size_t reply_start) {
  replies_.End(client, reply_start);
  if (!mode_.IsBetweenUnits()) return;
  if (notifier_.blocked_clients().HasReady()) [[unlikely]]
    blocked_runner_.Serve();
  notifier_.Broadcast();
  clients_.OnMemoryChange(client);
}

// CLIENT CACHING applies to one command or transaction, and not to another CLIENT command. ASKING
// applies to one request or transaction.
void Executor::EndExceptions(Client& client, Args argv) {
  if (client.tracking().next_is_exception) {
    const bool goes_on = client.transaction.open || EqualsIgnoringCase(argv[0], "client");
    Tracking::SetException(client, goes_on);
  }
  if (client.asking) {
    client.asking = client.transaction.open || EqualsIgnoringCase(argv[0], "asking");
  }
}

// Runs the request unless something prevents it. Returns its unit if it has run to its end.
std::optional<Unit> Executor::Admit(Client& client, Args argv) {
  const Command* command = commands_.Find(argv);
  if (command == nullptr) [[unlikely]] {
    if (IsHttp(argv)) return clients_.RejectHttp(client), std::nullopt;
    if (!engine_.access().MustAuthenticate(client)) {
      engine_.foreign_command_log().Note(client, argv[0]);
    }
  }
  const absl::Status admitted = admission_.Check(client, command, argv);
  if (!admitted.ok()) return Reject(client, command, admitted), std::nullopt;
  ClientPause& pause = clients_.pause();
  const Millis now = store_.now();
  // A replica would be taken for dead. Two nodes that move slots to each other would wait for each
  // other.
  const bool may_pause =
      !client.IsReplica() && (client.imported_slots == nullptr || IsPausedByOthers(pause, now));
  if (may_pause && pause.IsOn(now) &&
      pause.Holds(client, admission_.FlagsOf(*command, argv), now)) {
    return pause.Postpone(client, argv), std::nullopt;
  }
  if (client.transaction.open && !command->Has(kNotQueuedInMulti)) {
    return Enqueue(client, *command, argv), std::nullopt;
  }
  if (client.imported_slots != nullptr) [[unlikely]]
    return RunImported(client, *command, argv);
  if (MustWaitForExpiry(client, *command, argv)) [[unlikely]] {
    return overdue_.Postpone(client, argv), std::nullopt;
  }
  return Run(client, *command, argv);
}

// The source of the slots decides when their keys expire: nothing is due, as for what a replica
// receives.
std::optional<Unit> Executor::RunImported(Client& client, const Command& command, Args argv) {
  store_.SetNothingDue(true);
  std::optional<Unit> unit = Run(client, command, argv);
  store_.SetNothingDue(false);
  return unit;
}

// Commands that are about no data may report measurements.
std::optional<Unit> Executor::Run(Client& client, const Command& command, Args argv) {
  if (!command.HasAny(kReadOnly | kWrite)) metrics_.Gather();
  std::optional<Unit> unit(std::in_place, engine_.effects());
  CommandRun run(engine_, CommandRun::Origin::kRequest, {client, command, argv});
  const CommandRun::Result result = run.Run();
  if (result == CommandRun::Result::kDone) [[likely]]
    return unit;
  if (result == CommandRun::Result::kWaits) {
    blocked_runner_.Block(client, run);
    return unit;
  }
  suspended_.Start(client, run);
  suspended_.Keep(*std::move(unit));
  unit.reset();
  return unit;
}

void Executor::Reject(Client& client, const Command* command, const absl::Status& why) {
  if (command != nullptr) metrics_.CountRejected(*command);
  std::string line(ErrorLine(why));
  if (command != nullptr && command->Has(kEndsTransaction)) {
    notifier_.EndTransaction(client);
    if (!SlotRouting::IsRedirection(why)) line = AbortLine(line);
  }
  if (client.transaction.open) client.transaction.broken = true;
  client.reply.Error(line);
  metrics_.CountError(line);
}

void Executor::Enqueue(Client& client, const Command& command, Args argv) {
  Transaction& transaction = client.transaction;
  client.reply.Simple("QUEUED");
  if (transaction.broken || transaction.touched) return;  // EXEC will run nothing
  const uint32_t flags = admission_.FlagsOf(command, argv);
  transaction.may_take_memory |= (flags & kDenyOom) != 0;
  transaction.may_write |= (flags & kWrite) != 0;
  transaction.queue.push_back({&command, OwnedArgs(argv), flags});
  transaction.queue_bytes += transaction.queue.back().argv.allocated_bytes();
}

void Executor::RunQueued(Client& client, const QueuedCommand& queued) {
  const Args argv = queued.argv.argv();
  const size_t reply_start = client.output.buffer.size();
  client.reply.Begin();
  if (const auto denial = engine_.access().Check(client, *queued.command, argv, store_.now())) {
    return Reject(client, queued.command, Refusal(DenialLineInExec(*denial)));
  }
  CommandRun run(engine_, CommandRun::Origin::kRequest, {client, *queued.command, argv});
  if (run.Run() == CommandRun::Result::kSuspended) return suspended_.Start(client, run);
  replies_.EndQueued(client, reply_start);
}

void Executor::ContinueSuspended() {
  Client& client = suspended_.client();
  const size_t reply_start = client.output.buffer.size();
  std::optional<Unit> unit;
  {
    const ActiveClient active(notifier_, client);
    unit = suspended_.Continue();
  }
  if (!unit) return suspended_.KeepReply(reply_start);
  engine_.units().End(*std::move(unit), client);
  EndRequest(client, reply_start);
  client.connection.last_active = store_.now();
  client.mailbox.Wake();
  suspended_.Forget();
}

void Executor::Tick(Micros budget) {
  DoDueWork(budget);
  if (mode_.HasWholeData()) notifier_.PublishTops(budget);
}

void Executor::DoDueWork(Micros budget) {
  if (!mode_.IsBetweenUnits()) return ContinueSuspended();
  metrics_.Gather();
  metrics_.Sample(std::chrono::floor<Millis>(engine_.host().stopwatch()),
                  store_.gauge().uncounted_bytes());
  blocked_runner_.ServeDue(budget);
  blocked_runner_.EndDueWaits();
  RunPostponed(budget);
  if (!mode_.IsBetweenUnits()) return;
  clients_.Maintain(budget);
  clients_.Evict();
  if (engine_.settings().maxmemory > 0) {
    store_.MeasureMemory();
    admission_.MakeRoom();
  }
  notifier_.TrimTrackedKeys(budget);
  engine_.tasks().Tick(budget);
  if (!mode_.MayExpire(store_.now())) return;
  RunOverdue(budget);
  if (!mode_.IsBetweenUnits()) return;
  if (mode_.is_replica()) {
    if (!store_.DeleteOwnExpired(budget)) return;
  } else {
    store_.DeleteExpired(budget);
  }
  OnApplied();
}

std::optional<Millis> Executor::NextDeadline() const {
  const Millis now = store_.now();
  if (!mode_.IsBetweenUnits()) return now;
  std::optional<Millis> earliest = notifier_.blocked_clients().NextDeadline();
  const auto consider = [&](std::optional<Millis> next) {
    if (next && (!earliest || *next < *earliest)) earliest = next;
  };
  consider(clients_.pause().NextDeadline(now));
  if (clients_.IsMaintaining()) consider(now);
  if (store_.IsEvictionDue() || notifier_.HasTooManyTrackedKeys()) consider(now);
  if (engine_.tasks().HasWork()) consider(now);
  if (mode_.HasWholeData()) consider(notifier_.NextTop());
  if (!mode_.MayExpire(now)) return earliest;
  if (!overdue_.empty()) consider(now);
  if (mode_.is_replica()) {  // the master decides when its keys expire
    consider(store_.NextOwnDeadline());
    return earliest;
  }
  consider(store_.NextDeadline());
  consider(notifier_.blocked_clients().NextDue());
  return earliest;
}

// At least one runs. One of them may start another pause, or be a script that is suspended.
void Executor::RunPostponed(Micros budget) {
  ClientPause& pause = clients_.pause();
  if (!pause.HasPostponed()) return;
  if (!clients_.IsPaused()) pause.Release();
  clock_.Restart();
  const Micros until = clock_.began_at() + budget;
  while (mode_.IsBetweenUnits()) {
    const std::optional<ClientPause::PostponedRequest> held = pause.TakeReleased();
    if (!held) return;
    if (held->client->connection.close_now) continue;
    Process(*held->client, held->argv.argv());
    held->client->mailbox.Wake();
    if (host_.stopwatch() > until) return;
  }
}

bool Executor::MustWaitForExpiry(const Client& client, const Command& command, Args argv) {
  if (!store_.database(client.database).may_have_due_elements()) return false;
  if (!mode_.MayChangeByItself(store_.now())) return false;
  return !overdue_.MayRun(client, command, argv);
}

// The requests take turns, so that one on a very large value does not delay all others. As many
// turns as there are requests: one that has had to wait for long is not tried twice.
void Executor::RunOverdue(Micros budget) {
  overdue_.BeginTick();
  if (overdue_.empty()) return;
  clock_.Restart();
  const Micros until = clock_.began_at() + budget;
  for (size_t turns = overdue_.size(); turns > 0 && !overdue_.empty(); --turns) {
    if (!mode_.MayChangeByItself(store_.now())) return;
    const Args argv = overdue_.first().postponed_request.argv();
    if (overdue_.ClearFirst(*commands_.Find(argv), until)) {
      const OverdueRequests::Request request = overdue_.TakeFirst();
      Process(*request.client, request.argv.argv());
      request.client->mailbox.Wake();
    } else {
      overdue_.MoveFirstToEnd();
    }
    if (host_.stopwatch() > until) return;
  }
}

void Executor::EndRound() {
  engine_.tasks().EndRound();
  blocked_runner_.ServeAcknowledged();
}

void Executor::OnApplied() {
  blocked_runner_.Serve();
  notifier_.Broadcast();
}

void Executor::OnLeave(Client& client) {
  engine_.tasks().OnLeave(client);
  engine_.shutdown().OnLeave(client);
  overdue_.Remove(client);
  suspended_.OnLeave(client);
}

}  // namespace zsetd
