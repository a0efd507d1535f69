#include "server/replication/follower.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

#include "protocol/resp/request_writer.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/redis_version.h"

namespace zsetd {
namespace {

using std::chrono::seconds;

constexpr seconds kBetweenTries{1};
constexpr seconds kLongestPause{60};  // after what costs the master much
constexpr seconds kBetweenAcks{1};
constexpr seconds kStable{60};  // the age of a link at which earlier failures are forgotten
constexpr seconds kBetweenSameLines{60};  // for a repeated log line about an unreachable master
constexpr size_t kMostLogMarks = 4096;

std::string TextOf(const MasterAddress& master) {
  return master.host + ":" + std::to_string(master.port);
}

// Whether the master has not replied to all requests before PSYNC. It replies to these immediately.
// After PSYNC it may send only signs of life for a long time, until it begins a snapshot.
bool IsBeforeSync(const MasterLink& link) {
  return link.state() == MasterLink::State::kGreeting ||
         link.state() == MasterLink::State::kIntroduction;
}

bool HasData(const Store& store) {
  return std::ranges::any_of(store.databases(),
                             [](const auto& database) { return database->keys().size() > 0; });
}

}  // namespace

Follower::Follower(Engine& engine, PersistenceService& persistence, Connector& connector,
                   Listener& listener, const Log& log)
    : engine_(engine),
      persistence_(persistence),
      connector_(connector),
      listener_(listener),
      log_(log),
      stream_(engine, [this](const MasterStream::Applied& applied) { PassOn(applied); }) {}

Follower::~Follower() {
  persistence_.AbandonChecking();
  Disconnect();
}

void Follower::Start(const MasterAddress& master, std::optional<int> database, bool takes_over) {
  Stop();
  takes_over_ = takes_over;
  master_ = master;
  has_history_ = database.has_value();
  BeginStream(database.value_or(0));
  state_ = State::kWaiting;
  pause_ = Millis(0);
  tried_at_ = Now();
  costly_failures_ = 0;
  logged_reason_.clear();
  down_since_.reset();
  log_.Write(LogLevel::kNotice, "Connecting to MASTER " + TextOf(master));
  Connect();
}

void Follower::Stop() {
  if (state_ == State::kLoading) {
    const bool has_dropped_data = persistence_.IsReplacing() && !keeps_data_;
    persistence_.AbandonChecking();
    persistence_.AbandonReplacing();
    if (has_dropped_data) ForgetHistory();
  }
  Disconnect();
  is_takeover_refused_ = false;
  state_ = State::kStopped;
  SetLinkUp(false);
}

// ---- The link. ----

// Does nothing while the server loads its own data at the start; Tick() retries.
void Follower::Connect() {
  if (engine_.mode().is_loading()) return;
  tried_at_ = heard_at_ = Now();
  state_ = State::kConnecting;
  MasterLink::Listener& listener = *this;
  link_ = std::make_unique<MasterLink>(OptionsOfLink(), listener);
  connection_ = connector_.Connect({.host = master_.host,
                                    .port = static_cast<int>(master_.port),
                                    .with_tls = engine_.settings().tls_replication},
                                   *this);
}

LinkOptions Follower::OptionsOfLink() const {
  const Settings& settings = engine_.settings();
  const int64_t own_port = settings.tls_replication ? settings.tls_port : settings.port;
  LinkOptions options = {
      .user = settings.masteruser,
      .password = settings.masterauth,
      .port = settings.replica_announce_port != 0 ? settings.replica_announce_port : own_port,
      .address = settings.replica_announce_ip,
      .version = std::string(kRedisVersion),
      .takes_over = takes_over_};
  if (has_history_) {
    options.continuing = {engine_.replication().id(), engine_.replication().offset()};
  }
  return options;
}

void Follower::Disconnect() {
  assert(!is_receiving_);
  client_.reset();
  connection_.reset();
  link_.reset();
  snapshot_.reset();
  held_.clear();
  log_marks_.clear();
}

// Closes the link. The next try is one second after the start of the last one, so a link that was
// up for longer is retried immediately. The pause grows if each try costs the master a snapshot.
void Follower::Drop(std::string_view reason, bool costs_much) {
  const bool is_news = reason != logged_reason_ || Since(logged_at_) >= kBetweenSameLines;
  if (is_news) {
    log_.Write(LogLevel::kWarning, "The link to MASTER " + TextOf(master_) +
                                       " has ended: " + std::string(reason) + ". Reconnecting.");
    logged_reason_ = reason;
    logged_at_ = Now();
  }
  Disconnect();
  state_ = State::kWaiting;
  pause_ = kBetweenTries;
  if (costs_much) {
    tried_at_ = Now();
    pause_ = std::min<Millis>(kBetweenTries * (1 << std::min(costly_failures_, 6)), kLongestPause);
    ++costly_failures_;
  }
  SetLinkUp(false);
}

void Follower::SetLinkUp(bool up) {
  ReplicationState& state = engine_.replication();
  if (state.link_up() && !up) down_since_ = Now();
  if (up) down_since_.reset();
  state.set_link_up(up);
}

void Follower::OnConnected() {
  heard_at_ = Now();
  state_ = State::kGreeting;
  link_->Start(connection_->output());
  connection_->Send();
}

// During a load, the snapshot has arrived completely, so the load continues without the link.
void Follower::OnConnectionEnd(std::string_view reason) {
  if (state_ != State::kLoading) return Drop(reason);
  connection_.reset();
  is_link_over_ = true;
}

void Follower::OnReceived(std::string_view bytes) {
  engine_.executor().BeginBatch(std::chrono::floor<Millis>(engine_.host().wall_clock()));
  heard_at_ = Now();
  received_bytes_ += bytes.size();
  if (client_ != nullptr) client_->connection.received += bytes.size();
  engine_.metrics().stats().network.input_bytes += bytes.size();
  is_receiving_ = true;
  link_->Receive(bytes, connection_->output());
  is_receiving_ = false;
  is_takeover_refused_ |= link_->IsTakeoverRefused();
  if (link_->IsTakeoverDone()) takes_over_ = false;
  if (link_->state() == MasterLink::State::kFailed) return Drop(link_->failure());
  if (!snapshot_status_.ok()) return FailSnapshot(std::exchange(snapshot_status_, {}));
  if (!connection_->output().empty()) connection_->Send();
  if (MayLoad()) ConsiderLoading();
  if (!held_.empty()) ApplyHeld();
}

// Uses the monotonic clock, because setting the machine's clock must neither end the link nor delay
// the acknowledgments.
Millis Follower::Now() const {
  return std::chrono::duration_cast<Millis>(engine_.host().stopwatch());
}

Millis Follower::Since(Millis instant) const { return Now() - instant; }

void Follower::Tick() {
  switch (state_) {
    case State::kStopped:
      return;
    case State::kWaiting:
      if (Since(tried_at_) >= pause_) Connect();
      return;
    case State::kLoading:
      if (MayLoad()) ConsiderLoading();
      if (connection_ != nullptr && Since(spoke_at_) >= kBetweenAcks) SendSignOfLife();
      return;
    case State::kReceiving:
      if (Since(spoke_at_) >= kBetweenAcks) SendSignOfLife();
      break;
    case State::kLinked:
      if (HasWork()) ApplyHeld();
      if (state_ == State::kLinked && Since(spoke_at_) >= kBetweenAcks) SendAck();
      if (costly_failures_ > 0 && Since(linked_at_) >= kStable) costly_failures_ = 0;
      break;
    default:
      break;
  }
  const seconds patience(engine_.settings().repl_timeout);
  if (state_ == State::kGreeting && IsBeforeSync(*link_) && Since(tried_at_) > patience) {
    return Drop("the handshake has taken more than " + std::to_string(patience.count()) +
                " seconds (repl-timeout)");
  }
  if (connection_ != nullptr && held_.empty() && Since(heard_at_) > patience) {
    Drop("no data for " + std::to_string(patience.count()) + " seconds (repl-timeout)");
  }
}

bool Follower::HasWork() const {
  if (!engine_.mode().IsBetweenUnits()) return false;
  return (!held_.empty() && MayApply()) || MayLoad();
}

// Whether a complete snapshot waits for its check.
bool Follower::MayLoad() const {
  return state_ == State::kLoading && snapshot_ != nullptr && !persistence_.IsChecking();
}

// ---- A full synchronization. ----

void Follower::OnFullSync(const std::optional<ReplicationPosition>& position) {
  log_.Write(LogLevel::kNotice, position ? "Full resync from master: " + position->id + ":" +
                                               std::to_string(position->offset)
                                         : "Full resync from a master that does not support PSYNC");
  snapshot_position_ = position;
  state_ = State::kReceiving;
}

void Follower::OnSnapshot(std::optional<uint64_t> bytes) {
  snapshot_bytes_ = bytes;
  auto snapshot = persistence_.ReceiveSnapshot();
  snapshot_status_ = snapshot.status();
  if (!snapshot.ok()) return;
  snapshot_ = *std::move(snapshot);
  log_.Write(LogLevel::kNotice, "MASTER <-> REPLICA sync: receiving " +
                                    (bytes ? std::to_string(*bytes) + " bytes" : "a stream") +
                                    " from master");
}

void Follower::OnSnapshotBytes(std::string_view bytes) {
  if (snapshot_status_.ok()) snapshot_status_ = snapshot_->Write(bytes);
}

void Follower::OnSnapshotEnd() {
  if (snapshot_status_.ok()) snapshot_status_ = snapshot_->Finish();
  if (snapshot_status_.ok()) state_ = State::kLoading;
}

// Fails the synchronization before the load. The data is unchanged.
void Follower::FailSnapshot(const absl::Status& status) {
  log_.Write(LogLevel::kWarning, "Cannot use the snapshot of MASTER; keeping the old data: " +
                                     std::string(ErrorLine(status)));
  Drop("its snapshot cannot be used", /*costs_much=*/true);
}

// Waits while a script runs.
void Follower::ConsiderLoading() {
  if (engine_.mode().IsBetweenUnits()) return StartLoading();
  if (connection_ != nullptr) connection_->set_receives(false);
}

// An empty dataset needs no check, because a failed load leaves it empty. The offset is
// acknowledged to the master after the load.
void Follower::StartLoading() {
  using Load = DisklessLoad;
  const Load load = engine_.settings().repl_diskless_load;
  keeps_data_ = load == Load::kSwapDb && HasData(engine_.store());
  if (connection_ != nullptr) connection_->set_receives(false);
  is_link_over_ = connection_ == nullptr;  // the link may have ended while a script ran
  if (keeps_data_ || !HasData(engine_.store())) return Replace(std::nullopt);
  log_.Write(LogLevel::kNotice,
             "MASTER <-> REPLICA sync: Checking the snapshot before the old data is dropped");
  persistence_.StartChecking(*snapshot_, [this](absl::StatusOr<CheckedSnapshot> checked) {
    OnChecked(std::move(checked));
  });
}

void Follower::OnChecked(absl::StatusOr<CheckedSnapshot> checked) {
  if (!checked.ok()) return FailLoading(checked.status());
  Replace(*std::move(checked));
}

void Follower::Replace(std::optional<CheckedSnapshot> checked) {
  if (!keeps_data_ && checked) {
    const absl::Status status = persistence_.TakeFunctions(*snapshot_, *checked);
    if (!status.ok()) return FailLoading(status);
  }
  log_.Write(LogLevel::kNotice,
             keeps_data_ ? "MASTER <-> REPLICA sync: Loading DB in memory, keeping the old data "
                           "until it is complete"
                         : "MASTER <-> REPLICA sync: Flushing old data, loading DB in memory");
  if (!keeps_data_) has_history_ = false;
  listener_.BeforeNewHistory();
  persistence_.StartReplacing(std::exchange(snapshot_, nullptr),
                              {.keeps_data = keeps_data_, .checked = std::move(checked)},
                              [this](const absl::Status& loaded) { OnLoaded(loaded); });
}

void Follower::FailLoading(const absl::Status& status) {
  log_.Write(LogLevel::kWarning, "Failed trying to load the MASTER synchronization DB: " +
                                     std::string(ErrorLine(status)));
  if (HasData(engine_.store()))
    log_.Write(LogLevel::kNotice, "Keeping the data from before the synchronization");
  Drop("its snapshot cannot be loaded", /*costs_much=*/true);
}

void Follower::OnLoaded(const absl::Status& status) {
  if (!status.ok()) {
    if (!keeps_data_) ForgetHistory();
    return FailLoading(status);
  }
  ReplicationState& state = engine_.replication();
  if (snapshot_position_) {
    state.Join(snapshot_position_->id, snapshot_position_->offset);
  } else {
    state.Restart();
  }
  has_history_ = snapshot_position_.has_value();
  const auto& position = persistence_.loaded_position();
  BeginStream(position ? position->database : 0);
  engine_.effects().ForgetDatabase();
  listener_.OnNewHistory();
  log_.Write(LogLevel::kNotice, "MASTER <-> REPLICA sync: Finished with success");
  if (is_link_over_) return Drop("it was lost during the load");
  BecomeLinked();
}

// Starts the stream at the offset of the data, in that database.
void Follower::BeginStream(int database) {
  ReplicationState& state = engine_.replication();
  stream_.Begin(state.offset(), database);
  state.set_stream_database(database);
}

void Follower::ForgetHistory() {
  engine_.replication().Restart();
  has_history_ = false;
  listener_.OnNewHistory();
}

// ---- The stream. ----

void Follower::OnContinue(std::string_view new_id) {
  ReplicationState& state = engine_.replication();
  log_.Write(LogLevel::kNotice, "Successful partial resynchronization with master");
  BeginStream(stream_.database());
  if (!new_id.empty()) {
    state.Rename(std::string(new_id));
    listener_.OnNewId();
  }
  BecomeLinked();
}

void Follower::BecomeLinked() {
  assert(connection_ != nullptr);
  state_ = State::kLinked;
  const Connection::Endpoints endpoints = connection_->endpoints();
  client_ = std::make_unique<Client>(engine_.clients().NextId(), endpoints.address,
                                     endpoints.local_address, engine_.store().now(), [] {});
  client_->connection.descriptor = endpoints.descriptor;
  takes_over_ = false;
  logged_reason_.clear();
  heard_at_ = linked_at_ = Now();
  log_offset_ = 0;
  SetLinkUp(true);
  SendAck();
  if (HasWork() && !is_receiving_) ApplyHeld();
  if (connection_ != nullptr && held_.empty()) connection_->set_receives(true);
}

// Bytes that the log cannot write stay in memory. So the master keeps the rest of the stream, and
// its client-output-buffer-limit bounds that.
bool Follower::MayApply() const {
  return state_ == State::kLinked && engine_.mode().IsBetweenUnits() &&
         persistence_.log_status().buffer_bytes <= LogControl::kMostUnwritten;
}

void Follower::OnStream(std::string_view bytes) { held_ += bytes; }

void Follower::ApplyHeld() {
  if (!MayApply()) return connection_->set_receives(false);
  const std::string bytes = std::exchange(held_, {});
  heard_at_ = Now();  // no bytes were received while some were held
  Apply(bytes);
  if (connection_ != nullptr) connection_->set_receives(true);
}

void Follower::Apply(std::string_view bytes) {
  const uint64_t skipped_before = stream_.skipped();
  const absl::Status status = stream_.Receive(bytes);
  if (skipped_before == 0 && stream_.skipped() > 0) {
    log_.Write(LogLevel::kWarning,
               "Skipping '" + stream_.first_skipped() +
                   "' from MASTER: this server does not support the type of its key "
                   "(rdb-skip-unknown yes). Further ones are skipped without a log line");
  }
  if (status.ok()) {
    NoteLog();
    if (stream_.TakeAckRequest()) SendAck();
    return;
  }
  log_.Write(
      LogLevel::kWarning,
      "== CRITICAL == Cannot apply a command from MASTER; the data has diverged. Requesting a full "
      "resync. The command: " +
          std::string(ErrorLine(status)));
  ForgetHistory();
  Drop("a command cannot be applied", /*costs_much=*/true);
}

// Passes on the master's stream unchanged, byte by byte, so that servers with the same offset have
// the same data. The log contains only requests in RESP that change data, because it must load.
void Follower::PassOn(const MasterStream::Applied& applied) {
  Effects& effects = engine_.effects();
  engine_.replication().set_stream_database(applied.database_after);
  if (applied.changes_data) {
    effects.AppendApplied(applied.log_bytes, applied.database_before, applied.database_after);
  }
  if (effects.has_stream()) return effects.AppendToStream(applied.bytes);
  engine_.replication().Advance(applied.bytes.size());
}

// ---- Messages to the master. ----

// Acknowledges the applied offset and, if the log is on, the offset that is durable in the log.
void Follower::SendAck() {
  spoke_at_ = Now();
  if (connection_ == nullptr || link_->IsOld()) return;
  NoteLog();
  const std::string offset = std::to_string(stream_.offset());
  if (persistence_.log_status().enabled) {
    const std::string log_offset = std::to_string(log_offset_);
    AppendRequest(connection_->output(), {"REPLCONF", "ACK", offset, "FACK", log_offset});
  } else {
    AppendRequest(connection_->output(), {"REPLCONF", "ACK", offset});
  }
  connection_->Send();
}

// Records which offset of the history belongs to which position in the log, and sets `log_offset_`
// to the offset that is durable.
void Follower::NoteLog() {
  if (!persistence_.IsLogComplete()) return;
  const uint64_t durable = persistence_.DurablePosition();
  while (!log_marks_.empty() && log_marks_.front().log_position <= durable) {
    log_offset_ = log_marks_.front().offset;
    log_marks_.pop_front();
  }
  const uint64_t written = persistence_.WrittenPosition();
  const LogMark mark = {written, stream_.offset()};
  if (log_marks_.empty() && written <= durable) {
    log_offset_ = mark.offset;
  } else if (!log_marks_.empty() &&
             (log_marks_.back().log_position == written || log_marks_.size() == kMostLogMarks)) {
    log_marks_.back() = mark;
  } else {
    log_marks_.push_back(mark);
  }
}

// Shows the master that the replica is alive while it has no offset to acknowledge.
void Follower::SendSignOfLife() {
  spoke_at_ = Now();
  connection_->output().Append("\n");
  connection_->Send();
}

void Follower::CloseLink() {
  if (state_ == State::kLinked) Drop("closed by CLIENT KILL");
}

// Updates `client_` with the present state.
void Follower::DescribeClient() const {
  const Applier& applier = stream_.applier();
  client_->database = applier.database();
  client_->last_command = applier.last_command();
  client_->commands_run = applier.commands_run();
  client_->connection.last_active = engine_.store().now() - Since(heard_at_);
  client_->connection.input_bytes = stream_.unapplied_bytes() + held_.size();
  client_->connection.input_capacity = client_->connection.input_bytes;
}

MasterLinkStatus Follower::status() const {
  if (client_ != nullptr) DescribeClient();
  MasterLinkStatus status = {.client = client_.get(), .received_bytes = received_bytes_};
  switch (state_) {
    case State::kStopped:
    case State::kWaiting:
      status.state = "connect";
      break;
    case State::kConnecting:
      status.state = "connecting";
      break;
    case State::kGreeting:
      status.state = "handshake";
      break;
    case State::kReceiving:
    case State::kLoading:
      status.state = "sync";
      break;
    case State::kLinked:
      status.state = "connected";
      status.silent_for = Since(heard_at_);
      break;
  }
  if (has_history_ || state_ == State::kLinked) {
    status.applied_offset = engine_.replication().offset();
    status.read_offset =
        status.applied_offset + static_cast<int64_t>(stream_.unapplied_bytes() + held_.size());
  }
  if (down_since_) status.down_for = Since(*down_since_);
  status.is_syncing = state_ == State::kReceiving || state_ == State::kLoading;
  if (!status.is_syncing) return status;
  status.sync_total_bytes = static_cast<int64_t>(snapshot_bytes_.value_or(0));
  status.sync_read_bytes = snapshot_ == nullptr ? 0 : static_cast<int64_t>(snapshot_->size());
  status.sync_silent_for = Since(heard_at_);
  return status;
}

}  // namespace zsetd
