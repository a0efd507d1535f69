#include "server/persistence/persistence_service.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kIsLoading = "the data is being loaded";

}  // namespace

PersistenceService::PersistenceService(Engine& engine, FileSystem& files, PersistenceLog log,
                                       std::function<void()> on_progress)
    : engine_(engine),
      log_(std::move(log)),
      on_progress_(on_progress),
      directory_(engine, files, log_),
      dataset_(engine, files, log_),
      snapshots_(engine, files, directory_, dataset_, log_),
      append_log_(engine, files, directory_, dataset_, log_, std::move(on_progress)) {}

PersistenceService::~PersistenceService() {
  load_.reset();
  engine_.effects().set_log(nullptr);
}

absl::Status PersistenceService::Start() {
  const absl::Status locked = LockDirectory();
  return locked.ok() ? LoadAll() : locked;
}

absl::Status PersistenceService::StartInBackground(OnLoaded on_loaded) {
  if (absl::Status locked = LockDirectory(); !locked.ok()) return locked;
  engine_.disk().set_loading(true);
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
  // A client that connects meanwhile waits a little instead of being answered with LOADING.
  constexpr std::chrono::milliseconds kNotWorthMentioning{100};
  const auto until = std::chrono::steady_clock::now() + kNotWorthMentioning;
  for (auto now = until - kNotWorthMentioning; load_ != nullptr && now < until;) {
    load_->Await(std::chrono::ceil<std::chrono::milliseconds>(until - now));
    ContinueLoading();
    now = std::chrono::steady_clock::now();
  }
  return absl::OkStatus();
}

// After a failure the engine stays as if it were loading: there is nothing to answer from.
void PersistenceService::ContinueLoading() {
  load_->GiveTurn();
  if (!load_->done()) return;
  const absl::Status status = load_->status();
  load_.reset();
  engine_.disk().set_loading(!status.ok());
  engine_.store().gauge().Calibrate();  // which has not counted what another thread allocated
  std::exchange(on_loaded_, nullptr)(status);
}

std::optional<LoadingStatus> PersistenceService::loading() const {
  if (load_ == nullptr) return std::nullopt;
  return LoadingStatus{.started_at = loading_since_,
                       .total_bytes = load_->total_bytes(),
                       .loaded_bytes = load_->loaded_bytes()};
}

absl::Status PersistenceService::LockDirectory() {
  const bool writes = engine_.settings().appendonly || engine_.settings().save.Any();
  return writes ? directory_.Lock() : absl::OkStatus();
}

absl::Status PersistenceService::LoadAll() {
  const bool has_log = engine_.settings().appendonly;
  absl::StatusOr<bool> exists = has_log ? append_log_.Exists() : false;
  absl::Status status = exists.status();
  if (status.ok()) status = *exists ? append_log_.Load() : snapshots_.Load().status();
  if (!status.ok()) {
    return Refusal(std::string(ErrorLine(status)) +
                   "\nNothing was changed on disk. Put a good copy in its place, look at it with " +
                   (has_log ? "redis-check-aof" : "redis-check-rdb") +
                   ", or move it away to start without data.");
  }
  if (has_log && !*exists) status = append_log_.Create();
  if (!status.ok()) return status;
  if (has_log) engine_.effects().set_log(&append_log_);
  snapshots_.OnLoaded();
  return absl::OkStatus();
}

LogStatus PersistenceService::log_status() const {
  LogStatus status = append_log_.status();
  status.rewrite_scheduled = rewriting_scheduled_;
  return status;
}

absl::Status PersistenceService::StartRewriting() {
  rewriting_scheduled_ = false;
  return append_log_.IsOn() ? append_log_.StartRewriting() : append_log_.WriteOnce();
}

bool PersistenceService::HasWork() const {
  if (load_ != nullptr) return load_->WantsTurn() || load_->done();
  return snapshots_.HasWork() || append_log_.HasWork();
}

void PersistenceService::Tick() {
  if (load_ != nullptr) return ContinueLoading();
  if (engine_.disk().loading()) return;
  snapshots_.Continue();
  append_log_.Continue();
  if (IsSaving() || IsRewriting()) return;
  if (rewriting_scheduled_ && !append_log_.MustBegin()) {
    const absl::Status status = StartRewriting();
    if (!status.ok()) log_.warning(ErrorLine(status));
  }
  if (!IsRewriting()) append_log_.ConsiderRewriting();
  if (IsRewriting()) return;
  if (std::exchange(saving_scheduled_, false)) (void)StartSaving();
  if (!IsSaving()) snapshots_.ConsiderSavePoints();
}

// A snapshot in the foreground does not wait for a rewrite, which begins again afterwards.
void PersistenceService::MakeWayForSnapshot() {
  if (append_log_.AbandonRewriting()) rewriting_scheduled_ = true;
}

absl::Status PersistenceService::Save() {
  MakeWayForSnapshot();
  return snapshots_.Save();
}

// What is loaded already is less than what the files hold.
absl::Status PersistenceService::SaveBeforeExit(bool must_save, bool may_not) {
  if (engine_.disk().loading()) return absl::OkStatus();
  if (!append_log_.Flush()) {
    log_.warning("The append only file could not be written to its end");
    if (!may_not) return Refusal("the append only file could not be written");
  }
  MakeWayForSnapshot();
  return snapshots_.SaveBeforeExit(must_save, may_not);
}

void PersistenceService::SaveTheRest() {
  if (engine_.disk().loading()) return;
  if (!append_log_.Flush()) log_.warning("The append only file could not be written to its end");
  MakeWayForSnapshot();
  snapshots_.SaveTheRest();
}

void PersistenceService::OnFlushAll() {
  if (engine_.disk().loading()) return;  // the log says so, or its files are there
  if (engine_.settings().save.Any()) MakeWayForSnapshot();
  snapshots_.OnFlushAll();
}

// What a file brings that is not the present data is not in the log: a new base has it.
absl::Status PersistenceService::LoadAgain(const Reload& reload) {
  if (engine_.disk().loading()) return Refusal(kIsLoading);
  MakeWayForSnapshot();
  const absl::Status status = snapshots_.LoadAgain(reload);
  if (status.ok() && append_log_.IsOn() && !reload.IsPlain()) ScheduleRewriting();
  return status;
}

absl::Status PersistenceService::LoadLogAgain() {
  if (engine_.disk().loading()) return Refusal(kIsLoading);
  if (!append_log_.IsKept()) return Refusal("there is no append only file");
  MakeWayForSnapshot();
  const absl::Status status = append_log_.LoadAgain();
  if (!status.ok()) log_.warning(ErrorLine(status));
  return status;
}

absl::Status PersistenceService::Apply(const Settings& settings) {
  if (engine_.disk().loading()) {
    const bool is_same = settings.appendonly == engine_.settings().appendonly;
    return is_same ? absl::OkStatus() : Refusal(kIsLoading);
  }
  if (settings.appendonly == append_log_.IsKept()) return absl::OkStatus();
  if (!settings.appendonly) {
    engine_.effects().set_log(nullptr);
    append_log_.Disable();
    return absl::OkStatus();
  }
  absl::Status status = absl::OkStatus();
  if (IsSaving() || IsRewriting()) status = Refusal("a snapshot is being taken");
  if (status.ok()) status = append_log_.Enable();
  if (status.ok()) {
    engine_.effects().set_log(&append_log_);
    return status;
  }
  log_.warning(ErrorLine(status));
  return Refusal("Unable to turn on AOF. Check server logs.");
}

}  // namespace zsetd
