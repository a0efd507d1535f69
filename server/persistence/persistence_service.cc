#include "server/persistence/persistence_service.h"

#include <unistd.h>

#include <cassert>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "server/engine/services/services.h"
#include "server/engine/support/errors.h"
#include "server/persistence/file/drafts.h"

namespace zsetd {
namespace {

constexpr std::string_view kIsLoading = "the data is being loaded";
constexpr std::string_view kIsMidUnit = "it cannot begin while a script is running";
constexpr std::string_view kCannotBeginLog = "Unable to turn on AOF. Check server logs.";

}  // namespace

PersistenceService::PersistenceService(Engine& engine, FileSystem& files, const Log& log,
                                       std::function<void()> on_progress)
    : engine_(engine),
      files_(files),
      log_(log),
      on_progress_(on_progress),
      directory_(engine, files, log_),
      kept_libraries_(engine, log_),
      dataset_(engine, files, log_),
      snapshots_(engine, files, directory_, dataset_, log_, on_progress),
      append_log_(engine, files, directory_, dataset_, log_, std::move(on_progress)),
      snapshot_control_(engine.services().snapshots.Install(*this)),
      log_control_(engine.services().append_log.Install(*this)),
      task_(engine.tasks().Add(*this)) {}

PersistenceService::~PersistenceService() {
  load_.reset();
  check_.reset();
  engine_.effects().set_log(nullptr);
}

absl::Status PersistenceService::Start() {
  const absl::Status locked = LockDirectory();
  return locked.ok() ? LoadAll() : locked;
}

absl::Status PersistenceService::StartInBackground(OnLoaded on_loaded) {
  if (absl::Status locked = LockDirectory(); !locked.ok()) return locked;
  engine_.mode().set_loading(ServerMode::Loading::kAlone);
  loading_since_ = engine_.store().now();
  on_loaded_ = std::move(on_loaded);
  load_ = std::make_unique<LoadTurns>(
      [this](LoadTurns& turns) {
        dataset_.set_turns(&turns);
        absl::Status status = LoadAll();
        dataset_.set_turns(nullptr);
        return status;
      },
      on_progress_);
  constexpr std::chrono::milliseconds kShortStart{100};
  LoadFor(kShortStart);
  return absl::OkStatus();
}

// Continues the load for up to `time`, so that requests wait for a short load instead of getting
// LOADING.
void PersistenceService::LoadFor(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  for (auto now = until - time; load_ != nullptr && now < until;) {
    load_->Await(std::chrono::ceil<std::chrono::milliseconds>(until - now));
    ContinueLoading();
    now = std::chrono::steady_clock::now();
  }
}

// After a failed load at the start, the engine stays in the loading state because it has no data to
// serve.
void PersistenceService::ContinueLoading() {
  load_->GiveTurn();
  if (!load_->done()) return;
  const absl::Status status = load_->status();
  load_.reset();
  if (IsReplacing()) return FinishReplacing(status);
  engine_.mode().set_loading(status.ok() ? ServerMode::Loading::kNone
                                         : ServerMode::Loading::kAlone);
  engine_.store().gauge().Calibrate();  // the gauge does not count allocations of other threads
  std::exchange(on_loaded_, nullptr)(status);
}

absl::StatusOr<std::unique_ptr<ReceivedSnapshot>> PersistenceService::ReceiveSnapshot() {
  // If this server keeps no data in the directory, another server may hold its lock. The other
  // prefix keeps that server from removing the file as a draft.
  const std::string name = directory_.Lock().ok()
                               ? DraftName(++received_, ".master.rdb")
                               : "temp-replica-" + std::to_string(::getpid()) + "-" +
                                     std::to_string(++received_) + ".master.rdb";
  return ReceivedSnapshot::Create(files_, directory_.path() + "/" + name);
}

void PersistenceService::StartChecking(const ReceivedSnapshot& snapshot, OnChecked on_checked) {
  assert(load_ == nullptr && check_ == nullptr);
  on_checked_ = std::move(on_checked);
  check_ = std::make_unique<LoadTurns>(
      [this, path = snapshot.path(), options = dataset_.Options()](LoadTurns& turns) {
        checked_ = dataset_.Check(path, options, turns);
        return checked_.status();
      },
      on_progress_);
}

void PersistenceService::ContinueChecking() {
  check_->GiveTurn();
  if (!check_->done()) return;
  if (!check_->status().ok()) checked_ = check_->status();
  check_.reset();
  std::exchange(on_checked_, nullptr)(std::move(checked_));
}

void PersistenceService::AbandonChecking() {
  check_.reset();
  on_checked_ = nullptr;
}

absl::Status PersistenceService::TakeFunctions(const ReceivedSnapshot& snapshot,
                                               const CheckedSnapshot& checked) {
  return dataset_.PutFunctions(checked.functions, snapshot.path(), ReloadOptions());
}

void PersistenceService::StartReplacing(std::unique_ptr<ReceivedSnapshot> snapshot,
                                        Replacement replacement, OnReplaced on_replaced) {
  assert(load_ == nullptr && check_ == nullptr);
  const bool keeps_data = replacement.keeps_data;
  replaced_by_ = std::move(snapshot);
  replacement_ = std::move(replacement);
  load_ = std::make_unique<LoadTurns>(
      [this, path = replaced_by_->path()](LoadTurns& turns) {
        dataset_.set_turns(&turns);
        absl::Status status = Replace(path);
        dataset_.set_turns(nullptr);
        return status;
      },
      on_progress_);
  const bool has_thread = !load_->done();  // which waits for its first turn
  if (has_thread && !keeps_data) {
    EndLog();
    engine_.store().ClearAll();
  }
  loading_since_ = engine_.store().now();
  on_loaded_ = std::move(on_replaced);
  engine_.mode().set_loading(keeps_data ? ServerMode::Loading::kBeside
                                        : ServerMode::Loading::kAlone);
  constexpr std::chrono::milliseconds kShortLoad{10};
  if (!keeps_data) LoadFor(kShortLoad);
}

// Runs on the load's thread. Keys past their deadline stay until the master deletes them.
absl::Status PersistenceService::Replace(const std::string& path) {
  const Micros start = engine_.host().stopwatch();
  const std::optional<CheckedSnapshot>& checked = replacement_.checked;
  absl::StatusOr<LoadedSnapshot> loaded =
      checked ? dataset_.Read(path, *checked) : dataset_.Read(path, /*keeps_expired=*/true);
  if (!loaded.ok()) return loaded.status();
  dataset_.Report(*loaded, engine_.host().stopwatch() - start);
  std::optional<HistoryPlace> position = std::move(loaded->position);
  if (checked) {
    dataset_.PutKeys(*std::move(loaded));
  } else {
    const absl::Status status = dataset_.Put(*std::move(loaded), path, ReloadOptions());
    if (!status.ok()) return status;
  }
  EndLog();
  loaded_position_ = std::move(position);
  return absl::OkStatus();
}

void PersistenceService::FinishReplacing(const absl::Status& status) {
  engine_.mode().set_loading(ServerMode::Loading::kNone);
  engine_.store().gauge().Calibrate();
  replaced_by_.reset();
  if (status.ok()) ResumeLog();
  std::exchange(on_loaded_, nullptr)(status);
}

void PersistenceService::AbandonReplacing() {
  if (!IsReplacing()) return;
  load_.reset();
  replaced_by_.reset();
  on_loaded_ = nullptr;
  engine_.mode().set_loading(ServerMode::Loading::kNone);
  engine_.store().gauge().Calibrate();
}

void PersistenceService::EndLog() {
  log_is_due_ = false;
  ForgetFailedBegin();
  if (!append_log_.IsOn()) return;
  if (append_log_.IsKept()) log_is_missing_ = true;
  engine_.effects().set_log(nullptr);
  append_log_.Disable();
}

void PersistenceService::ResumeLog() {
  log_is_due_ = log_is_missing_;
  ConsiderBeginningLog();
}

// The old files stay until the new ones are complete, so waiting is safe.
void PersistenceService::ConsiderBeginningLog() {
  constexpr std::chrono::seconds kBetweenTries{5};
  if (!log_is_due_ || load_ != nullptr || IsSaving() || IsRewriting()) return;
  if (engine_.units().IsInTransaction()) return;
  if (log_failed_at_ && engine_.host().stopwatch() - *log_failed_at_ < kBetweenTries) return;
  (void)BeginDueLog();
}

// Until the log begins, writes would not be kept by any file, so they are refused.
absl::Status PersistenceService::BeginDueLog() {
  absl::Status status = BeginLog(directory_.path());
  if (!status.ok()) NoteFailedBegin(status);
  return status;
}

void PersistenceService::NoteFailedBegin(const absl::Status& why) {
  log_failed_at_ = engine_.host().stopwatch();
  engine_.disk().set_log_error(std::string(ErrorLine(why)));
  log_.Write(LogLevel::kWarning,
             "Cannot begin the append only file. Refusing writes until it begins: " +
                 std::string(ErrorLine(why)));
}

void PersistenceService::ForgetFailedBegin() {
  if (!log_failed_at_) return;
  log_failed_at_.reset();
  engine_.disk().set_log_error({});
}

absl::Status PersistenceService::BeginLog(const std::string& directory) {
  absl::Status status = append_log_.Enable(directory);
  if (!status.ok()) return status;
  ForgetFailedBegin();
  engine_.effects().set_log(&append_log_);
  log_is_missing_ = log_is_due_ = rewriting_scheduled_ = false;
  return status;
}

void PersistenceService::ScheduleLog() {
  log_is_missing_ = log_is_due_ = true;
  log_.Write(
      LogLevel::kNotice,
      "The append only file is enabled while a snapshot is being taken. Its first rewrite starts "
      "after the snapshot.");
}

std::optional<LoadingStatus> PersistenceService::loading() const {
  if (load_ == nullptr) return std::nullopt;
  return LoadingStatus{.started_at = loading_since_,
                       .total_bytes = load_->total_bytes(),
                       .loaded_bytes = load_->loaded_bytes(),
                       .is_beside = IsReplacing() && replacement_.keeps_data};
}

absl::Status PersistenceService::LockDirectory() {
  if (engine_.settings().appendonly) return append_log_.StayIn(directory_.path());
  return engine_.settings().save.Any() ? directory_.Lock() : absl::OkStatus();
}

absl::Status PersistenceService::LoadAll() {
  const bool has_log = engine_.settings().appendonly;
  absl::StatusOr<bool> exists = has_log ? append_log_.Exists() : false;
  absl::Status status = exists.status();
  if (status.ok()) status = *exists ? append_log_.Load() : snapshots_.Load().status();
  loaded_position_ = snapshots_.loaded_position();
  if (absl::IsResourceExhausted(status)) return status;  // no file is damaged
  if (!status.ok()) {
    return Refusal(
        std::string(ErrorLine(status)) +
        "\nThe files were not changed. Replace the damaged one with a good copy, inspect it with " +
        (has_log ? "redis-check-aof" : "redis-check-rdb") +
        ", or move it away to start without data.");
  }
  if (has_log && !*exists) status = append_log_.Create();
  if (!status.ok()) return status;
  if (has_log) engine_.effects().set_log(&append_log_);
  snapshots_.OnLoaded();
  return absl::OkStatus();
}

// A snapshot for replicas counts as one in the background, as in Redis: BGSAVE is refused then.
SnapshotStatus PersistenceService::snapshot_status() const {
  SnapshotStatus status = snapshots_.status();
  if (!IsTransferring()) return status;
  status.saving = true;
  status.keys_saved = transfer_->keys_saved();
  status.keys_to_save = transfer_->keys();
  status.saving_for =
      std::chrono::duration_cast<Millis>(engine_.host().stopwatch() - transfer_->started_at());
  return status;
}

LogStatus PersistenceService::log_status() const {
  LogStatus status = append_log_.status();
  status.enabled = next_log_state_.value_or(append_log_.IsKept() || log_is_missing_);
  status.rewrite_scheduled = rewriting_scheduled_ || log_is_due_ || next_log_state_.value_or(false);
  if (log_failed_at_) status.last_write_ok = false;
  return status;
}

absl::Status PersistenceService::StartRewriting() {
  rewriting_scheduled_ = false;
  if (log_is_due_) return BeginDueLog();
  if (!append_log_.IsOn()) return append_log_.WriteOnce();
  append_log_.StartRewriting();
  return absl::OkStatus();
}

bool PersistenceService::HasWork() const {
  const auto wants = [](const std::unique_ptr<LoadTurns>& turns) {
    return turns != nullptr && (turns->WantsTurn() || turns->done());
  };
  if (wants(load_) || wants(check_)) return true;
  if (engine_.mode().is_loading()) return false;
  return snapshots_.HasWork() || append_log_.HasWork() ||
         (transfer_ != nullptr && (MayContinueTransfer() || transfer_->done()));
}

void PersistenceService::Tick(Micros) {
  if (check_ != nullptr) ContinueChecking();
  if (load_ != nullptr) ContinueLoading();
  if (engine_.mode().is_loading()) return;
  ConsiderBeginningLog();
  snapshots_.Continue();
  append_log_.Continue();
  ContinueTransfer();
  if (append_log_.MustRepairNow()) MakeWayForLog();
  if (IsSaving() || IsRewriting()) return;
  if (rewriting_scheduled_ && !append_log_.MustBegin()) {
    const absl::Status status = StartRewriting();
    if (!status.ok()) log_.Write(LogLevel::kWarning, ErrorLine(status));
  }
  if (!IsRewriting()) append_log_.ConsiderRewriting();
  if (IsRewriting()) return;
  if (std::exchange(saving_scheduled_, false)) (void)StartSaving();
  if (!IsSaving()) snapshots_.ConsiderSavePoints();
}

void PersistenceService::StartTransfer(std::unique_ptr<SnapshotSink> sink,
                                       const SnapshotContents& contents,
                                       std::function<bool()> is_full) {
  transfer_result_.reset();
  is_transfer_full_ = std::move(is_full);
  transfer_ =
      std::make_unique<BackgroundSnapshot>(std::move(sink), engine_, contents, on_progress_);
}

bool PersistenceService::MayContinueTransfer() const {
  return transfer_->HasWork() && !is_transfer_full_();
}

void PersistenceService::ContinueTransfer() {
  if (transfer_ == nullptr) return;
  if (MayContinueTransfer()) transfer_->Continue();
  if (!transfer_->done()) return;
  transfer_result_ = transfer_->status();
  transfer_.reset();
}

// Cancels a running rewrite, which starts again afterwards, and a transfer to replicas, which
// request another one. A snapshot in the foreground does not wait for them. The first base of a
// log needs no schedule: the log starts it again itself.
void PersistenceService::MakeWayForSnapshot() {
  if (transfer_ != nullptr) {
    transfer_.reset();
    transfer_result_ = Refusal("a snapshot on disk takes precedence");
  }
  const bool restarts_itself = append_log_.IsKept() && append_log_.IsBeginning();
  if (append_log_.AbandonRewriting() && !restarts_itself) rewriting_scheduled_ = true;
}

// Also cancels a snapshot in the background, which starts again after the log's new base.
void PersistenceService::MakeWayForLog() {
  if (snapshots_.IsSaving()) {
    snapshots_.Abandon();
    saving_scheduled_ = true;
  }
  MakeWayForSnapshot();
}

absl::Status PersistenceService::StartSaving() {
  SaveFlushed();
  return snapshots_.StartSaving();
}

absl::Status PersistenceService::Save() {
  MakeWayForSnapshot();
  absl::Status status = snapshots_.Save();
  if (status.ok()) engine_.disk().set_flush_is_unsaved(false);
  return status;
}

// Begins the log if it is due, and waits for the first base of a new log, for example after a
// master's snapshot. Until it is complete the log has no data. Takes as long as a snapshot.
absl::Status PersistenceService::CompleteLog() {
  const bool may_begin = engine_.mode().IsBetweenUnits() && !engine_.units().IsInTransaction();
  if (log_is_due_) {
    if (!may_begin) return Refusal(kIsMidUnit);
    MakeWayForLog();
    append_log_.Disable();  // a log that is being written once
    if (absl::Status status = BeginDueLog(); !status.ok()) return status;
  }
  if (append_log_.WaitForBase()) return absl::OkStatus();
  if (append_log_.IsRewriting()) return Refusal("its file cannot be written");
  if (!may_begin) return Refusal(kIsMidUnit);
  MakeWayForLog();
  append_log_.StartRewriting();
  return append_log_.WaitForBase() ? absl::OkStatus() : Refusal("its base cannot be written");
}

// Returns whether all changes are in a log that a restart can load.
bool PersistenceService::FinishLog() {
  absl::Status status = CompleteLog();
  if (status.ok() && !append_log_.Flush()) status = Refusal("a write or a sync has failed");
  if (status.ok()) return true;
  log_.Write(LogLevel::kWarning,
             "Cannot write the append only file completely: " + std::string(ErrorLine(status)));
  return false;
}

// Saves nothing during a load, because the files contain more than the loaded part.
absl::Status PersistenceService::SaveBeforeExit(bool must_save, bool may_not) {
  if (engine_.mode().is_loading()) return absl::OkStatus();
  SaveFlushed();
  if (may_not) {
    FlushLog();
  } else if (!FinishLog()) {
    return Refusal("the append only file could not be written");
  }
  MakeWayForSnapshot();
  return snapshots_.SaveBeforeExit(must_save, may_not);
}

void PersistenceService::FlushLog() {
  if (append_log_.Flush()) return;
  log_.Write(LogLevel::kWarning, "Cannot write the append only file completely");
}

void PersistenceService::SaveTheRest() {
  if (engine_.mode().is_loading()) return;
  FlushLog();
  MakeWayForSnapshot();
  snapshots_.SaveTheRest();
}

void PersistenceService::OnFlushAll() {
  if (engine_.mode().is_loading()) return;  // the files hold data that is not loaded yet
  snapshots_.Abandon();                     // it would restore the flushed data
  engine_.disk().set_flush_is_unsaved(engine_.settings().save.Any());
}

// FLUSHALL itself does not save: in the middle of a unit, no offset of the history describes the
// data, so a replica could not continue from it.
void PersistenceService::SaveFlushed() {
  if (!engine_.disk().flush_is_unsaved() || !engine_.mode().IsBetweenUnits()) return;
  engine_.disk().set_flush_is_unsaved(false);
  if (engine_.mode().is_loading()) return;
  MakeWayForSnapshot();
  snapshots_.Abandon();
  (void)snapshots_.Save();
}

// Also saves after a FLUSHALL from a master's stream.
void PersistenceService::EndRound() {
  SaveFlushed();
  append_log_.EndRound();
}

// The log does not contain the loaded data, so a rewrite creates a new base that does.
absl::Status PersistenceService::LoadAgain(const ReloadOptions& reload) {
  if (load_ != nullptr) return Refusal(kIsLoading);
  absl::Status status;
  if (engine_.units().IsInTransaction()) {
    status = LoadAgainInTransaction(reload);
  } else {
    SaveFlushed();
    MakeWayForSnapshot();
    status = snapshots_.LoadAgain(reload);
  }
  if (status.ok() && append_log_.IsOn() && !reload.IsPlain()) ScheduleRewriting();
  return status;
}

// The file must not contain a state in the middle of a unit. So the data is saved to and loaded
// from a draft, and the file is saved after the unit.
absl::Status PersistenceService::LoadAgainInTransaction(const ReloadOptions& reload) {
  MakeWayForSnapshot();
  if (!reload.saves && !engine_.disk().flush_is_unsaved()) return snapshots_.LoadAgain(reload);
  absl::Status status = snapshots_.LoadAgainByDraft(reload);
  if (!status.ok()) return status;
  engine_.units().AfterUnit([this] {
    snapshots_.Abandon();
    (void)Save();
  });
  return status;
}

// Inside a transaction the log lacks the running unit, so the load waits for its end.
absl::Status PersistenceService::LoadLogAgain() {
  if (load_ != nullptr) return Refusal(kIsLoading);
  if (!append_log_.IsKept()) return Refusal("there is no append only file");
  if (engine_.units().IsInTransaction()) {
    engine_.units().AfterUnit([this] { (void)LoadLogAgain(); });
    return absl::OkStatus();
  }
  MakeWayForSnapshot();
  const absl::Status status = append_log_.LoadAgain();
  if (!status.ok()) log_.Write(LogLevel::kWarning, ErrorLine(status));
  return status;
}

absl::Status PersistenceService::Apply(const Settings& settings) {
  const bool is_same = settings.appendonly == engine_.settings().appendonly;
  if (engine_.mode().is_loading() || load_ != nullptr) {
    return is_same ? absl::OkStatus() : Refusal(kIsLoading);
  }
  if (log_is_missing_ && is_same) return absl::OkStatus();
  const std::string directory = DataDirectory::PathIn(settings);  // it may change, too
  if (!engine_.units().IsInTransaction()) return SwitchLog(settings.appendonly, directory);
  return is_same ? absl::OkStatus() : SwitchLogAfterUnit(settings.appendonly, directory);
}

// Switches the log when the unit has ended. If a log cannot begin then, it is retried later, like
// after a master's snapshot.
absl::Status PersistenceService::SwitchLogAfterUnit(bool on, const std::string& directory) {
  const bool is_new = on && !append_log_.IsOn();
  const absl::Status status = is_new ? append_log_.Prepare(directory) : absl::OkStatus();
  if (!status.ok()) {
    log_.Write(LogLevel::kWarning, ErrorLine(status));
    return Refusal(kCannotBeginLog);
  }
  next_log_state_ = on;
  engine_.units().AfterUnit([this, on] {
    const absl::Status switched = SwitchLog(on, directory_.path());
    if (switched.ok()) return;
    log_is_missing_ = log_is_due_ = true;
    NoteFailedBegin(switched);
  });
  return absl::OkStatus();
}

// Precondition: no unit is open.
absl::Status PersistenceService::SwitchLog(bool on, const std::string& directory) {
  log_is_missing_ = log_is_due_ = false;
  ForgetFailedBegin();
  next_log_state_.reset();
  if (on == append_log_.IsKept()) return absl::OkStatus();
  if (!on) {
    engine_.effects().set_log(nullptr);
    append_log_.Disable();
    rewriting_scheduled_ = false;
    return absl::OkStatus();
  }
  if (IsSaving() || IsRewriting()) {
    ScheduleLog();
    return absl::OkStatus();
  }
  const absl::Status status = BeginLog(directory);
  if (status.ok()) return status;
  log_.Write(LogLevel::kWarning, ErrorLine(status));
  return Refusal(kCannotBeginLog);
}

}  // namespace zsetd
