#include "server/replication/replicas.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "protocol/resp/request_writer.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/unique_id.h"
#include "server/persistence/file/drafts.h"
#include "server/persistence/snapshot/snapshot_file.h"

namespace zsetd {
namespace {

constexpr size_t kMostWaitingBytes = 32u << 20;  // for replicas; then encoding waits for them
constexpr Millis kBetweenLooks{1000};

// Between control requests while FAILOVER waits. redis-server acknowledges one up to a second
// later, with its next periodic acknowledgement. The link of a replica ends after the timeout.
Millis BetweenControlsInFailover(Millis timeout) {
  return std::clamp(timeout / 2, Millis(1100), Millis(3000));
}

bool SharesSnapshot(const ReplicaOptions& a, const ReplicaOptions& b) {
  return a.takes_eof == b.takes_eof && a.leaves_out_data == b.leaves_out_data &&
         a.leaves_out_functions == b.leaves_out_functions;
}

// "127.0.0.1:50000" and "[::1]:50000" without the port.
std::string WithoutPort(std::string_view address) {
  address = address.substr(0, address.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return std::string(address);
}

// The time of the replica's last sign of life. During a snapshot this is accepted output, during
// its load a newline. A replica that waits for a snapshot need not send any, and an old one in the
// stream cannot; both never time out.
Millis LastSignOf(const Replica& replica) {
  using State = Replica::State;
  const State state = replica.state();
  if (state == State::kStream && !replica.is_old()) return replica.acknowledged_at();
  if (state == State::kSnapshot || state == State::kDone) return replica.took_at();
  const bool waits = state == State::kWaiting || state == State::kPreparation;
  return waits || replica.is_old() ? Millis::max() / 2 : replica.heard_at();
}

}  // namespace

Replicas::Replicas(Engine& engine, PersistenceService& persistence, FileSystem& files,
                   const Log& log, Post post)
    : engine_(engine), persistence_(persistence), files_(files), log_(log), post_(std::move(post)) {
  engine_.replication().set_good_replicas([this] { return CountGood(); });
}

Replicas::~Replicas() {
  if (group_ && group_->pipe != nullptr) group_->pipe->Silence();
  persistence_.AbandonTransfer();
  engine_.effects().set_stream(nullptr);
  engine_.replication().set_good_replicas(nullptr);
}

// Uses the monotonic clock, because setting the machine's clock must not change the lag of
// replicas.
Millis Replicas::Now() const {
  return std::chrono::duration_cast<Millis>(engine_.host().stopwatch());
}

// Starts the backlog at the present offset of the history.
void Replicas::EnsureBacklog() {
  if (backlog_ != nullptr) return;
  backlog_ = std::make_unique<Backlog>(engine_.replication());
  engine_.effects().set_stream(backlog_.get());
}

void Replicas::ResetBacklog() {
  DisconnectAll();
  all_.clear();
  engine_.effects().set_stream(nullptr);
  backlog_.reset();
  EnsureBacklog();
}

absl::Status Replicas::CheckSynchronize(const Client& client) const {
  const ReplicationState& state = engine_.replication();
  if (state.is_replica() && !state.link_up()) {
    return Refusal("NOMASTERLINK Can't SYNC while not connected with my master");
  }
  if (client.output.UnsentBytes() > 0) {
    return Refusal("ERR SYNC and PSYNC are invalid with pending output");
  }
  if (client.IsSubscriber() || client.monitors() || client.tracking().on) {
    return Refusal("ERR SYNC and PSYNC are invalid for a client that is sent messages");
  }
  return absl::OkStatus();
}

bool Replicas::CanContinue(const StreamPosition& from) const {
  const ReplicationState& state = engine_.replication();
  if (backlog_ == nullptr) return false;
  const bool is_present = EqualsIgnoringCase(from.id, state.id());
  const bool is_second =
      EqualsIgnoringCase(from.id, state.second_id()) && from.offset <= state.second_offset();
  return (is_present || is_second) && backlog_->Has(from.offset);
}

// Turns the client into a replica. It receives the stream only, no replies. Without a backlog,
// changes were not counted, so a new history starts here.
Replica& Replicas::Add(Client& client) {
  if (backlog_ == nullptr) {
    engine_.replication().Restart();
    EnsureBacklog();
  }
  assert(!all_.contains(client.id));
  auto replica = std::make_unique<Replica>(client, OptionsOf(client), *backlog_);
  replica->set_acknowledged_at(Now());
  client.output.reply_mode = ClientOutput::ReplyMode::kOff;
  without_since_.reset();
  return *(all_[client.id] = std::move(replica));
}

absl::Status Replicas::Synchronize(Client& client, const StreamPosition& from) {
  if (absl::Status status = CheckSynchronize(client); !status.ok()) return status;
  if (CanContinue(from)) {
    Replica& replica = Add(client);
    const std::string& id = engine_.replication().id();
    replica.Enqueue(replica.options().takes_psync2 ? "+CONTINUE " + id + "\r\n" : "+CONTINUE\r\n");
    replica.StartStream(from.offset);
    ++partial_syncs_;
    log_.Write(LogLevel::kNotice, "Replica " + client.address + " continues from offset " +
                                      std::to_string(from.offset));
    return absl::OkStatus();
  }
  if (from.id != "?") ++refused_partial_syncs_;
  ++full_syncs_;
  Add(client);
  if (!waits_since_) waits_since_ = Now();
  log_.Write(LogLevel::kNotice, "Replica " + client.address + " requests a full synchronization");
  return absl::OkStatus();
}

absl::Status Replicas::SynchronizeByOldProtocol(Client& client) {
  if (absl::Status status = CheckSynchronize(client); !status.ok()) return status;
  ++full_syncs_;
  Add(client).set_is_old();
  if (!waits_since_) waits_since_ = Now();
  return absl::OkStatus();
}

void Replicas::Acknowledge(Client& client, int64_t offset, std::optional<int64_t> log_offset) {
  const auto found = all_.find(client.id);
  if (found == all_.end()) return;
  Replica& replica = *found->second;
  replica.Acknowledge(offset, log_offset.value_or(0), Now());
  if (replica.HasMore()) client.mailbox.Wake();
}

int64_t Replicas::CountAcknowledged(int64_t offset) const {
  return std::ranges::count_if(all_, [&](const auto& each) {
    return each.second->state() == Replica::State::kStream && each.second->acknowledged() >= offset;
  });
}

int64_t Replicas::CountLogged(int64_t offset) const {
  return std::ranges::count_if(all_, [&](const auto& each) {
    return each.second->state() == Replica::State::kStream && each.second->logged() >= offset;
  });
}

ReplicaStatus Replicas::StatusOf(const Replica& replica) const {
  const ReplicaOptions& options = replica.options();
  const Millis silent_for = replica.SilentFor(Now());
  return {
      .client = replica.client().id,
      .address = options.address.empty() ? WithoutPort(replica.client().address) : options.address,
      .port = options.port,
      .state = replica.IsOnline()     ? "online"
               : replica.IsSentFile() ? "send_bulk"
                                      : "wait_bgsave",
      .is_online = replica.IsOnline(),
      .offset = replica.acknowledged(),
      .log_offset = replica.logged(),
      .lag_s = std::chrono::duration_cast<std::chrono::seconds>(silent_for).count()};
}

std::vector<ReplicaStatus> Replicas::Status() const {
  std::vector<ReplicaStatus> status;
  for (const auto& [id, replica] : all_) status.push_back(StatusOf(*replica));
  return status;
}

StreamStatus Replicas::stream() const {
  StreamStatus status = {.full_syncs = full_syncs_,
                         .partial_syncs = partial_syncs_,
                         .refused_partial_syncs = refused_partial_syncs_};
  if (backlog_ == nullptr) return status;
  status.has_backlog = true;
  status.backlog_first_offset = backlog_->first_offset();
  status.backlog_bytes = static_cast<int64_t>(backlog_->size());
  status.backlog_memory = backlog_->BytesUsed();
  return status;
}

const Replica* Replicas::Find(const std::string& host, int64_t port) const {
  for (const auto& [id, replica] : all_) {
    const ReplicaStatus status = StatusOf(*replica);
    if (host.empty()) {
      const bool has_all = replica->state() == Replica::State::kStream &&
                           replica->acknowledged() >= engine_.replication().offset();
      if (has_all) return replica.get();
    } else if (status.port == port && EqualsIgnoringCase(status.address, host)) {
      return replica.get();
    }
  }
  return nullptr;
}

void Replicas::OnLeave(Client& client) {
  options_.erase(client.id);
  if (all_.erase(client.id) == 0) return;
  if (all_.empty()) without_since_ = Now();
}

void Replicas::DisconnectAll() {
  std::vector<Client*> clients;  // a copy, because End() removes a replica from `all_`
  for (const auto& [id, replica] : all_) clients.push_back(&replica->client());
  for (Client* const client : clients) engine_.clients().End(*client);
}

void Replicas::EndRound() {
  if (backlog_ == nullptr) return;
  if (!engine_.mode().IsBetweenUnits()) return;  // in the middle of a unit
  if (!IsFailoverOn()) control_in_failover_at_.reset();
  if (engine_.replication().is_replica()) asks_ = false;
  if (asks_ && MayAppendControl()) {
    asks_ = false;
    if (!all_.empty()) AppendControl({"REPLCONF", "GETACK", "*"});
  }
  if (backlog_->end() == sent_until_) return;
  sent_until_ = backlog_->end();
  for (const auto& [id, replica] : all_) {
    if (replica->HasMore()) replica->client().mailbox.Wake();
  }
  DropUnneeded();
}

// A replica passes on its master's stream unchanged. A master of a cluster announces where the
// stream ends when a manual failover pauses the writes. With FAILOVER the stream ends when the
// roles are exchanged. Until then, perhaps for long, the replicas need signs of life. These must be
// rare, because FAILOVER waits for their acknowledgement.
bool Replicas::MayAppendControl() const {
  if (engine_.replication().is_replica() || persistence_.IsSavedForExit()) return false;
  if (!IsFailoverOn()) return true;
  if (engine_.settings().cluster_enabled) return false;
  const std::chrono::seconds timeout(engine_.settings().repl_timeout);
  return !control_in_failover_at_ ||
         Now() - *control_in_failover_at_ >= BetweenControlsInFailover(timeout);
}

bool Replicas::IsFailoverOn() const {
  return engine_.clients().pause().IsOn(ClientPause::Cause::kFailover, engine_.store().now());
}

// Appends a request of the protocol to the stream. It does not count as a change.
void Replicas::AppendControl(std::initializer_list<std::string_view> words) {
  assert(backlog_ != nullptr);
  if (IsFailoverOn()) control_in_failover_at_ = Now();
  change_end_ = last_change();
  engine_.effects().AppendToStream(EncodeRequest(words));
  control_end_ = backlog_->end();
}

int64_t Replicas::last_change() const {
  const int64_t end = engine_.replication().offset();
  return end == control_end_ ? change_end_ : end;
}

ReplicaProgress Replicas::ProgressTo(int64_t offset) const {
  ReplicaProgress progress;
  for (const auto& [id, replica] : all_) {
    if (replica->options().only_snapshot) continue;
    ++progress.replicas;
    if (!replica->HasAll(offset)) progress.lagging.push_back(StatusOf(*replica));
  }
  return progress;
}

// Drops the bytes that all replicas have received, except the last repl-backlog-size bytes.
void Replicas::DropUnneeded() {
  int64_t needed = backlog_->end() + 1 - engine_.settings().repl_backlog_size;
  for (const auto& [id, replica] : all_) {
    if (replica->NeedsStream()) needed = std::min(needed, replica->next_offset());
  }
  backlog_->DropBefore(needed);
  const auto kept = static_cast<size_t>(engine_.settings().repl_backlog_size);
  const size_t used = backlog_->BytesUsed();
  engine_.store().set_bytes_for_replicas(used - std::min(used, kept));
}

bool Replicas::HasWork() const { return MayStartSync(); }

void Replicas::Tick() {
  if (const auto result = persistence_.TakeTransferResult()) EndSync(*result);
  if (group_ && group_->pipe != nullptr && !group_->pipe->has_readers()) {
    group_->pipe->Silence();
    persistence_.AbandonTransfer();  // no reader is left
    group_.reset();
  }
  if (MayStartSync()) StartSync();
  const Millis now = Now();
  if (std::chrono::abs(now - looked_after_at_) < kBetweenLooks) return;
  looked_after_at_ = now;
  Maintain(now);
}

bool Replicas::MayStartSync() const {
  if (!waits_since_ || group_ || persistence_.IsBusy()) return false;
  if (!engine_.mode().HasWholeData()) return false;
  const Settings& settings = engine_.settings();
  const auto waiting = std::ranges::count_if(
      all_, [](const auto& each) { return each.second->state() == Replica::State::kWaiting; });
  const int64_t enough = settings.repl_diskless_sync_max_replicas;
  if (!settings.repl_diskless_sync || (enough > 0 && waiting >= enough)) return true;
  return Now() - *waits_since_ >= std::chrono::seconds(settings.repl_diskless_sync_delay);
}

// Starts a snapshot for all waiting replicas with equal options. The others get another one later.
void Replicas::StartSync() {
  assert(!group_);
  waits_since_.reset();
  Group group;
  std::optional<ReplicaOptions> shared;
  for (const auto& [id, replica] : all_) {
    if (replica->state() != Replica::State::kWaiting) continue;
    if (!shared) shared = replica->options();
    if (SharesSnapshot(*shared, replica->options())) {
      group.clients.push_back(id);
    } else {
      waits_since_ = Now();
    }
  }
  if (!shared) return;
  group.offset = backlog_->end();
  engine_.effects().ForgetDatabase();  // the stream after a snapshot begins with SELECT
  SnapshotContents contents = persistence_.dataset().Contents();
  contents.with_keys = !shared->leaves_out_data;
  if (shared->leaves_out_functions) contents.functions.clear();
  group_ = std::move(group);
  for (const uint64_t id : group_->clients) {
    Replica& replica = *all_[id];
    if (!replica.is_old()) {
      replica.Enqueue("+FULLRESYNC " + engine_.replication().id() + " " +
                      std::to_string(group_->offset) + "\r\n");
    }
    replica.AwaitSnapshot(group_->offset);
  }
  if (engine_.settings().repl_diskless_sync && shared->takes_eof) {
    StartPipe(contents);
  } else {
    StartFile(contents);
  }
}

void Replicas::StartPipe(const SnapshotContents& contents) {
  group_->mark = UniqueId();
  group_->pipe = std::make_shared<SnapshotPipe>([this] {
    post_([this] {
      WakeReaders();
      return false;
    });
  });
  for (const uint64_t id : group_->clients) {
    all_[id]->Enqueue("$EOF:" + group_->mark + "\r\n");
    all_[id]->StartSnapshot(group_->pipe, group_->mark);
  }
  log_.Write(LogLevel::kNotice,
             "Sending a snapshot to " + std::to_string(group_->clients.size()) + " replica(s)");
  persistence_.StartTransfer(
      std::make_unique<PipeSink>(group_->pipe, engine_.settings().rdbchecksum), contents,
      [pipe = group_->pipe] { return pipe->waiting() >= kMostWaitingBytes; });
}

void Replicas::StartFile(const SnapshotContents& contents) {
  const std::string name = ReplicationDraftName(++drafts_);
  group_->path = persistence_.directory().path() + "/" + name;
  if (const absl::Status locked = persistence_.directory().Lock(); !locked.ok()) {
    return EndSync(locked);
  }
  auto sink = std::make_unique<SnapshotFile>(
      files_, SnapshotFile::Options{.with_checksum = engine_.settings().rdbchecksum,
                                    .syncs_in_steps = false,
                                    .directory = persistence_.directory().path(),
                                    .name = name,
                                    .draft_name = name + ".part"});
  log_.Write(LogLevel::kNotice, "Taking a snapshot on disk for " +
                                    std::to_string(group_->clients.size()) + " replica(s)");
  persistence_.StartTransfer(std::move(sink), contents, [] { return false; });
}

void Replicas::EndSync(const absl::Status& result) {
  if (!group_) return;
  absl::Status status = result;
  if (status.ok() && group_->pipe == nullptr) status = SendFile();
  if (!group_->path.empty()) (void)files_.Remove(group_->path);
  if (!status.ok()) {
    log_.Write(LogLevel::kWarning, "Cannot send a snapshot to replicas; disconnecting them: " +
                                       std::string(ErrorLine(status)));
    for (const uint64_t id : group_->clients) {
      const auto found = all_.find(id);
      if (found != all_.end()) engine_.clients().End(found->second->client());
    }
    if (group_->pipe != nullptr) group_->pipe->Silence();
  }
  group_.reset();
}

// Each replica opens the file separately. The system keeps the removed file until the last replica
// closes it.
absl::Status Replicas::SendFile() {
  absl::Status status;
  for (const uint64_t id : group_->clients) {
    const auto found = all_.find(id);
    if (found == all_.end()) continue;
    auto file = files_.Open(group_->path);
    if (!file.ok()) status = file.status();
    if (!status.ok()) break;
    Replica& replica = *found->second;
    replica.Enqueue("$" + std::to_string((*file)->size()) + "\r\n");
    replica.StartFile(*std::move(file));
    replica.client().mailbox.Wake();
  }
  return status;
}

void Replicas::WakeReaders() {
  for (const auto& [id, replica] : all_) {
    if (replica->state() == Replica::State::kSnapshot) replica->client().mailbox.Wake();
  }
}

void Replicas::Maintain(Millis now) {
  Ping(now);
  const auto timeout = std::chrono::seconds(engine_.settings().repl_timeout);
  std::vector<Client*> silent;
  for (const auto& [id, replica] : all_) {
    const Replica::State state = replica->state();
    if (state == Replica::State::kWaiting || state == Replica::State::kPreparation) {
      replica->Enqueue("\n");  // shows the replica that the link is alive
      replica->client().mailbox.Wake();
    }
    replica->Note(now);
    if (LastSignOf(*replica) + timeout < now) silent.push_back(&replica->client());
  }
  for (Client* const client : silent) {
    log_.Write(LogLevel::kWarning, "Disconnecting timedout replica " + client->address);
    engine_.clients().End(*client);
  }
  if (backlog_ != nullptr) DropUnneeded();
  FreeBacklog(now);
}

// A replica detects a lost master by missing PINGs. A replica passes on its master's PINGs, so it
// sends none itself.
void Replicas::Ping(Millis now) {
  const auto period = std::chrono::seconds(engine_.settings().repl_ping_replica_period);
  if (all_.empty() || engine_.replication().is_replica()) pinged_at_ = now;
  if (now - pinged_at_ < period) return;
  if (!MayAppendControl()) return;
  pinged_at_ = now;
  // FAILOVER waits until a replica has acknowledged the whole stream, with this request.
  if (IsFailoverOn()) return AppendControl({"REPLCONF", "GETACK", "*"});
  AppendControl({"PING"});
}

// As in Redis, a replica that has received its snapshot counts before its first acknowledgment,
// because its state is "online". Each write calls this, so it uses a time that is already known.
int64_t Replicas::CountGood() const {
  const auto most = std::chrono::seconds(engine_.settings().min_replicas_max_lag);
  const auto command_began = std::chrono::duration_cast<Millis>(engine_.clock().began_at());
  const Millis now = std::max(command_began, looked_after_at_);
  return std::ranges::count_if(all_, [&](const auto& each) {
    return each.second->IsOnline() && each.second->SilentFor(now) <= most;
  });
}

// Frees the backlog if there have been no replicas for repl-backlog-ttl. Later changes are not
// counted, so a new history starts.
void Replicas::FreeBacklog(Millis now) {
  const auto ttl = std::chrono::seconds(engine_.settings().repl_backlog_ttl);
  const bool is_needed = !all_.empty() || engine_.replication().is_replica() || ttl.count() == 0;
  if (backlog_ == nullptr || is_needed) return;
  if (!without_since_) without_since_ = now;
  if (std::chrono::floor<std::chrono::seconds>(now - *without_since_) <= ttl) return;
  engine_.effects().set_stream(nullptr);
  backlog_.reset();
  engine_.replication().Restart();
  log_.Write(LogLevel::kNotice, "Replication backlog freed after " +
                                    std::to_string(engine_.settings().repl_backlog_ttl) +
                                    " seconds without replicas");
}

}  // namespace zsetd
