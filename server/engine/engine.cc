#include "server/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "server/engine/admission.h"
#include "server/engine/allocator_stats.h"
#include "server/engine/arg_reader.h"
#include "server/engine/call.h"
#include "server/engine/errors.h"
#include "server/engine/input_limits.h"

namespace zsetd {
namespace {

constexpr size_t kReclaimsPerLook = 32;         // freed between two looks at the stopwatch
constexpr size_t kReplyPieceBytes = 16u << 10;  // of short elements, written in half a millisecond

std::string RandomHexDigits(Rng& rng, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  while (digits.size() < count) digits += kDigits[rng.Next() % 16];
  return digits;
}

// TOUCH is a use even of who wants its commands not to be uses (CLIENT NO-TOUCH).
bool UsesItsKeys(const Client& client, const Command& command) {
  return !command.Has(kLooksOnly) && (!client.no_touch || command.name == "touch");
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
      access_(commands_, clients_, settings_, stats_, [this](Client& client) { End(client); }),
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
  use_meter_.AdvanceTo(now);
  for (int index = 0; index < settings.databases; ++index) {
    databases_.push_back(std::make_unique<Database>(
        index, hash_seed, [this](const Change& change) { OnChange(change); },
        [this](std::shared_ptr<void> garbage, size_t bytes) { Discard(std::move(garbage), bytes); },
        &use_meter_));
    databases_.back()->AdvanceTo(now);
  }
  MeetSettings();
}

void Engine::AdvanceTo(Millis now) {
  if (now == now_) return;
  now_ = now;
  use_meter_.AdvanceTo(now);
  for (const auto& database : databases_) database->AdvanceTo(now);
}

void Engine::BeginBatch(Millis now) {
  AdvanceTo(now);
  command_ended_at_ = host_.stopwatch();
}

absl::Status Engine::Prepare() {
  for (const auto& [name, new_name] : settings_.renamed_commands) {
    if (commands_.Rename(name, new_name)) continue;
    const bool is_known = commands_.Find(name) != nullptr;
    return Refusal(
        "rename-command " + name + ": " +
        (is_known ? "Target command name already exists" : "No such command in rename-command"));
  }
  return access_.LoadConfigured();
}

absl::Status Engine::Configure(const Settings& settings) {
  const absl::Status applied = host_.apply ? host_.apply(settings) : absl::OkStatus();
  if (!applied.ok()) return applied;
  if (settings.requirepass != settings_.requirepass) {
    access_.SetDefaultPassword(settings.requirepass);
  }
  settings_ = settings;
  MeetSettings();
  return absl::OkStatus();
}

// What does not read its settings where it uses them.
void Engine::MeetSettings() {
  use_meter_.set_rule({.counts = settings_.maxmemory_policy.ends_with("lfu"),
                       .log_factor = settings_.lfu_log_factor,
                       .fade_minutes = settings_.lfu_decay_time});
  gauge_.Calibrate();
  eviction_goes_on_ = settings_.maxmemory > 0;  // soon, and not within CONFIG SET
}

void Engine::Attach(Client& client) {
  Reset(client);
  clients_.emplace(client.id, &client);
  ++stats_.connections_received;
}

void Engine::Detach(Client& client) {
  watches_.RemoveAll(client);
  waiters_.Remove(client);
  pause_.Remove(client);
  StopTracking(client);
  monitors_.Remove(client);
  channels_.RemoveAll(client);
  client_bytes_ -= std::exchange(client.weighed_bytes, 0);
  clients_.erase(client.id);
}

void Engine::End(Client& client) {
  client.executing ? void(client.close_after_reply = true) : Disconnect(client);
}

void Engine::Disconnect(Client& client) {
  Detach(client);
  CloseNow(client);
}

void Engine::CloseNow(Client& client) {
  client.close_now = true;
  client.Wake();
}

void Engine::Reset(Client& client) {
  EndTransaction(client);
  StopTracking(client);
  monitors_.Remove(client);
  channels_.RemoveAll(client);
  client.ResetState();
  access_.Greet(client);
}

void Engine::EndTransaction(Client& client) {
  watches_.RemoveAll(client);
  client.transaction = Transaction();
}

void Engine::Foresee(const Client& client, std::span<const Words> requests) {
  lookahead_.Fetch(*databases_[client.database], commands_, requests);
}

void Engine::Execute(Client& client, Words words) {
  Answer(client, words);
  RunHeldBack();
}

void Engine::Answer(Client& client, Words words) {
  const size_t reply_start = client.out.size();
  client.executing = true;
  active_ = &client;
  client.last_active = now_;
  client.reply.Begin();
  Dispatch(client, words);
  if (client.tracking.next_is_exception) EndException(client, words);
  active_ = nullptr;
  client.executing = false;
  Finish(client, reply_start);
  ServeWaiters();
  tracking_.Broadcast();
  if (settings_.maxmemory_clients == 0) return;
  Weigh(client);
  CloseGreatestClients();
}

// That which CLIENT CACHING asked for: it holds for one command or transaction, and not for another
// CLIENT command.
void Engine::EndException(Client& client, Words words) {
  const bool goes_on = client.transaction.open || EqualsIgnoringCase(words[0], "client");
  client.tracking.next_is_exception = goes_on;
}

void Engine::Dispatch(Client& client, Words words) {
  const Command* command = commands_.Find(words);
  if (command == nullptr && IsHttp(words)) return CutOffBrowser(client);
  const absl::Status admitted = Admit(client, command, words);
  if (!admitted.ok()) return Reject(client, command, admitted);
  if (pause_.Holds(client, *command, now_)) return pause_.HoldBack(client, words);
  if (client.transaction.open && !command->Has(kNotQueued)) {
    return Enqueue(client, *command, words);
  }
  Run(client, *command, words);
}

absl::Status Engine::Admit(Client& client, const Command* command, Words words) {
  absl::Status status = CheckRequest(client, settings_, access_, command, words);
  if (!status.ok()) return status;
  client.last_command = command->name;
  if (const auto denial = access_.Check(client, *command, words, now_)) {
    return Refusal(DenialLine(*denial, *client.user, *command));
  }
  if (settings_.maxmemory > 0 && LacksMemoryFor(client, *command)) return Refusal(kOutOfMemory);
  return CheckContext(client, *command);
}

// A page can have a browser post what it likes to any address that the browser reaches: the lines
// of such a request are not to be run as commands.
void Engine::CutOffBrowser(Client& client) {
  CloseNow(client);
  if (browser_told_at_ && now_ - *browser_told_at_ < std::chrono::minutes(1)) return;
  browser_told_at_ = now_;
  host_.log(
      "Closing " + client.address +
      ": it speaks HTTP, as a browser does that a page makes attack this server. For a minute "
      "others are closed without a word");
}

void Engine::Reject(Client& client, const Command* command, const absl::Status& why) {
  if (command != nullptr) ++commands_.stats(*command).rejected;
  std::string line(ErrorLine(why));
  if (command != nullptr && command->Has(kEndsTransaction)) {
    EndTransaction(client);
    line = AbortLine(line);
  }
  if (client.transaction.open) client.transaction.broken = true;
  client.reply.Error(line);
  stats_.CountError(line);
}

void Engine::Enqueue(Client& client, const Command& command, Words words) {
  client.transaction.may_take_memory |= command.Has(kDenyOom);
  for (const std::string_view word : words) client.transaction.bytes += word.size();
  client.transaction.queue.push_back({&command, {words.begin(), words.end()}});
  client.reply.Simple("QUEUED");
}

void Engine::Run(Client& client, const Command& command, Words words) {
  const Micros before = command_ended_at_;
  use_meter_.set_notes(UsesItsKeys(client, command));
  Call call(*this, client, command, words);
  command.run(call);
  if (command.Has(kReadOnly) && client.tracking.on) RememberReads(client, command, words);
  command_ended_at_ = host_.stopwatch();
  Note(client, command, words, command_ended_at_ - before);
  if (call.refused()) ++commands_.stats(command).failed;
  ++client.commands_run;
}

// What is remembered of a command that has run, and told of it.
void Engine::Note(const Client& client, const Command& command, Words words, Micros took) {
  CommandStats& stats = commands_.stats(command);
  ++stats.calls;
  stats.micros += took.count();
  if (!client.wait) {  // else that is told when the wait is over
    if (settings_.latency_tracking) stats.latency.Record(took);
    slow_log_.Consider(settings_, command, words, client, now_, took);
  }
  latency_.Consider(command.Has(kFast) ? "fast-command" : "command", took, now_,
                    settings_.latency_monitor_threshold);
  if (monitors_.Any()) monitors_.Tell(client, command, words, host_.wall_clock());
  ++stats_.commands_processed;
}

void Engine::RememberReads(Client& client, const Command& command, Words words) {
  if (!client.tracking.RemembersReads()) return;
  const auto most = static_cast<size_t>(settings_.tracking_table_max_keys);
  for (const size_t position : KeyPositions(command, words)) {
    tracking_.Remember(client, words[position], most, rng_);
  }
}

void Engine::RunQueued(Client& client, const QueuedCommand& queued) {
  const std::vector<std::string_view> words(queued.words.begin(), queued.words.end());
  const size_t reply_start = client.out.size();
  client.reply.Begin();
  if (const auto denial = access_.Check(client, *queued.command, words, now_)) {
    return Reject(client, queued.command, Refusal(DenialLineInExec(*denial)));
  }
  Run(client, *queued.command, words);
  const int64_t most_bytes = settings_.client_output_buffer_limit.normal.hard_bytes;
  const bool is_too_long = most_bytes != 0 && client.out.size() > static_cast<size_t>(most_bytes);
  if (is_too_long && !client.close_now) CutOff(client);
  if (client.close_now) client.out.resize(reply_start);  // the rest runs, and nobody will be told
}

// A command that waits has not been replied to yet: CLIENT REPLY SKIP still means it.
void Engine::Finish(Client& client, size_t reply_start) {
  if (!client.IsWaiting()) LeaveOutUnwanted(client, reply_start);
  if (!client.long_reply) DeliverPushes(client);
}

// What CLIENT REPLY has left out.
void Engine::LeaveOutUnwanted(Client& client, size_t reply_start) {
  using Mode = Client::ReplyMode;
  const Mode mode = client.reply_mode;
  if (mode == Mode::kOff || mode == Mode::kSkipThis) {
    client.out.resize(reply_start);
    client.long_reply.reset();
  }
  if (mode == Mode::kSkipThis) client.reply_mode = Mode::kOn;
  if (mode == Mode::kSkipNext) client.reply_mode = Mode::kSkipThis;
}

void Engine::DeliverPushes(Client& client) {
  client.out += client.pushes;
  client.pushes.clear();
}

void Engine::ContinueReply(Client& client) {
  const size_t enough = client.out.size() + kReplyPieceBytes;
  bool more = true;
  while (more && client.out.size() < enough) more = client.long_reply->WriteNext(client.reply);
  if (more) return;
  client.long_reply.reset();
  DeliverPushes(client);
}

void Engine::ChangeReplicationId() { replication_id_ = RandomHexDigits(rng_, 40); }

void Engine::ResetStats() {
  stats_ = Stats();
  load_.Reset();
  commands_.ResetStats();
}

void Engine::Tick(Micros budget) {
  load_.Sample(now_, stats_);
  GiveUpDueWaits();
  RunHeldBack();
  LookAfterClients();
  LookAfterMemory();
  if (pause_.IsOn(now_)) return;
  const Micros start = host_.stopwatch();
  ReclaimDue(start + budget);
  const Micros took = host_.stopwatch() - start;
  stats_.expiry_time += took;
  latency_.Consider("expire-cycle", took, now_, settings_.latency_monitor_threshold);
  tracking_.Broadcast();
}

void Engine::ReclaimDue(Micros until) {
  if (!expires_unasked_) return;
  for (const auto& database : databases_) {
    while (database->ReclaimDue(kReclaimsPerLook) == kReclaimsPerLook) {
      if (host_.stopwatch() <= until) continue;
      ++stats_.expiries_cut_short;
      return;
    }
  }
}

std::optional<Millis> Engine::NextDeadline() const {
  std::optional<Millis> earliest = waiters_.NextDeadline();
  const auto consider = [&](std::optional<Millis> next) {
    if (next && (!earliest || *next < *earliest)) earliest = next;
  };
  consider(pause_.NextDeadline(now_));
  if (eviction_goes_on_) consider(now_);
  if (pause_.IsOn(now_)) return earliest;  // so long no key goes
  if (!expires_unasked_) return earliest;
  for (const auto& database : databases_) {
    if (database->keys().with_deadline() == 0) continue;  // most: this is asked with every batch
    consider(database->keys().NextDeadline());
  }
  return earliest;
}

void Engine::Drop(int index) {
  watches_.TouchAll(index, *databases_[index], nullptr);
  databases_[index]->Clear();
}

void Engine::Clear(int index) {
  Drop(index);
  Discard(tracking_.TouchAll());
}

void Engine::ClearAll() {
  for (int index = 0; index < database_count(); ++index) Drop(index);
  Discard(tracking_.TouchAll());
}

void Engine::StopTracking(Client& client) { Discard(tracking_.Stop(client)); }

void Engine::Discard(std::shared_ptr<void> garbage, size_t bytes) {
  if (!host_.discard || garbage == nullptr) return;
  gauge_.HandOver(std::move(garbage), bytes, host_.discard);
}

// Frees watched keys that are past their deadline: they are gone already, and that they are freed
// must be no change to who watches a key of that name once they have come there.
void Engine::ReclaimWatched(int index, Database& database) {
  for (const std::string& key : watches_.KeysOf(index)) database.Open(key);
}

void Engine::SwapDatabases(int a, int b) {
  if (a == b) return;
  ReclaimWatched(a, *databases_[b]);
  ReclaimWatched(b, *databases_[a]);
  watches_.TouchAll(a, *databases_[a], databases_[b].get());
  watches_.TouchAll(b, *databases_[b], databases_[a].get());
  databases_[a]->SwapKeysWith(*databases_[b]);
  waiters_.TouchAll(a);
  waiters_.TouchAll(b);
  Discard(tracking_.TouchAll());
}

// Everything that follows from a change, in one place.
void Engine::OnChange(const Change& change) {
  ++change_count_;
  if (change.event == "expired") ++stats_.expired_keys;
  if (change.event == "evicted") ++stats_.evicted_keys;
  const KeyspaceEvents& told = settings_.notify_keyspace_events;
  if (told.Any()) {
    if (change.is_new) told.Announce({change.database, change.key, "new"}, channels_);
    told.Announce(change, channels_);
  }
  tracking_.Touch(change.key, active_);
  watches_.Touch(change.database, change.key);
  waiters_.Touch(change.database, change.key);
}

void Engine::OnMiss(int database, std::string_view key) {
  const KeyspaceEvents& told = settings_.notify_keyspace_events;
  if (told.Any()) told.Announce({database, key, "keymiss"}, channels_);
}

// No request is run while much is unsent, but messages come from others: so those of a client that
// subscribes to nothing, of MONITOR and CLIENT TRACKING, have the limits of one that does.
bool Engine::IsStalled(Client& client) const {
  const OutputLimits& limits = settings_.client_output_buffer_limit;
  const size_t unsent = client.UnsentBytes();
  if (LeavesTooMuchUnread(client, access_)) return true;
  if (client.IsSubscriber()) return client.output_watch.Exceeds(limits.pubsub, unsent, now_);
  return client.output_watch.Exceeds(limits.normal, unsent, now_) ||
         client.push_watch.Exceeds(limits.pubsub, client.UnsentPushBytes(), now_);
}

void Engine::CutOff(Client& client) {
  host_.log("Closing " + client.address +
            ": a reply is longer than client-output-buffer-limit allows");
  ++stats_.stalled_disconnections;
  CloseNow(client);
}

bool Engine::IsIdle(const Client& client) const {
  const bool listens = client.IsSubscriber() || client.monitors;
  if (settings_.timeout == 0 || listens || client.IsWaiting()) return false;
  return now_ - client.last_active > std::chrono::seconds(settings_.timeout);
}

// No oftener than `hz` has it, for it takes as long as there are clients; a tick may come for each
// deadline.
void Engine::LookAfterClients() {
  if (!looks_after_clients_) return;
  if (std::chrono::abs(now_ - looked_after_clients_at_) < Millis(1000) / settings_.hz) return;
  looked_after_clients_at_ = now_;
  std::vector<Client*> idle;  // apart, for who is disconnected leaves clients_
  for (const auto& [id, client] : clients_) {
    if (IsIdle(*client)) idle.push_back(client);
    if (IsStalled(*client)) client->Wake();
  }
  for (Client* client : idle) Disconnect(*client);
  WeighAllClients();
}

}  // namespace zsetd
