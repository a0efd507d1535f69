#include "server/persistence/snapshot/dataset.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "server/engine/services/scripting.h"
#include "server/engine/services/services.h"
#include "server/engine/store/value_limits.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr Micros kBetweenReports{2'000'000};  // between progress reports of a load

}  // namespace

// The stream of a replica is its master's. The stream of a master consists of the commands that it
// propagates.
HistoryPlace Dataset::place() const {
  const ReplicationState& state = engine_.replication();
  return {.id = state.id(),
          .offset = state.offset(),
          .database = state.is_replica() ? state.stream_database()
                                         : engine_.effects().database().value_or(0)};
}

SnapshotContents Dataset::Contents() const {
  SnapshotContents contents = {.functions = engine_.services().scripting->DumpLibraries(),
                               .place = std::nullopt};
  const bool has_place = engine_.replication().is_replica() || engine_.effects().has_stream();
  if (has_place) contents.place = place();
  return contents;
}

SnapshotContents Dataset::ContentsOfBase() const {
  return {.functions = engine_.services().scripting->DumpLibraries(),
          .is_log_base = true,
          .place = std::nullopt};
}

LoadOptions Dataset::Options() const {
  const Settings& settings = engine_.settings();
  return {.now = engine_.store().now(),
          .databases = engine_.store().database_count(),
          .limits = ValueLimitsOf(settings),
          .checks_checksum = settings.rdbchecksum,
          .skips_unknown = settings.rdb_skip_unknown,
          .make_keyspace = [this] { return engine_.store().database(0).MakeKeyspace(); }};
}

absl::StatusOr<LoadedSnapshot> Dataset::Read(const std::string& path, bool keeps_expired) const {
  LoadOptions options = Options();
  options.keeps_expired = keeps_expired;
  return Read(path, std::move(options));
}

absl::StatusOr<LoadedSnapshot> Dataset::Read(const std::string& path,
                                             const CheckedSnapshot& checked) const {
  LoadOptions options = Options();
  options.keeps_expired = true;
  options.skips_unknown = checked.skips_unknown;
  return Read(path, std::move(options));
}

absl::StatusOr<LoadedSnapshot> Dataset::Read(const std::string& path, LoadOptions options) const {
  const Micros start = engine_.host().stopwatch();
  Micros reported_at = start;
  const AccessTracker access_tracker = engine_.store().access_tracker();
  options.access_tracker = &access_tracker;
  options.progress = [&](uint64_t bytes, uint64_t total, uint64_t keys) {
    const Micros now = engine_.host().stopwatch();
    if (now - reported_at < kBetweenReports) return;
    reported_at = now;
    // Logs in a turn, because at other times the engine's thread may reopen the log file.
    if (turns_ != nullptr && !turns_->Begin()) return;
    log_.Write(LogLevel::kNotice,
               "Loading: " + std::to_string(bytes * 100 / std::max<uint64_t>(total, 1)) + " % (" +
                   std::to_string(keys) + " keys), " + Rate(bytes, now - start));
    if (turns_ != nullptr) turns_->End();
  };
  if (turns_ == nullptr) return LoadSnapshot(files_, path, options);
  options.on_read = [this](uint64_t bytes, uint64_t total) {
    if (turns_->total_bytes() == 0) turns_->Announce(total);
    turns_->set_file_bytes(bytes);
    return !turns_->abandoned();
  };
  turns_->End();
  absl::StatusOr<LoadedSnapshot> loaded = LoadSnapshot(files_, path, options);
  if (!turns_->Begin()) return absl::CancelledError();
  return loaded;
}

absl::StatusOr<CheckedSnapshot> Dataset::Check(const std::string& path, LoadOptions options,
                                               LoadTurns& turns) const {
  options.on_read = [&turns](uint64_t, uint64_t) { return !turns.abandoned(); };
  options.abandoned = &turns.abandoned();
  const Micros start = engine_.host().stopwatch();
  turns.End();
  absl::StatusOr<LoadedSnapshot> checked = CheckSnapshot(files_, path, options);
  if (!turns.Begin()) return absl::CancelledError();
  if (!checked.ok()) return checked.status();
  log_.Write(LogLevel::kNotice,
             "Checked the snapshot; it can be loaded: " + std::to_string(checked->keys_loaded) +
                 " keys, " + Megabytes(checked->bytes) + ", " +
                 Rate(checked->bytes, engine_.host().stopwatch() - start));
  return CheckedSnapshot{.functions = std::move(checked->functions),
                         .skips_unknown = options.skips_unknown};
}

void Dataset::Report(const LoadedSnapshot& loaded, Micros took) const {
  log_.Write(LogLevel::kNotice, "DB loaded from disk: " + std::to_string(loaded.keys_loaded) +
                                    " keys, " + std::to_string(loaded.keys_expired) + " expired, " +
                                    Megabytes(loaded.bytes) + ", " + Rate(loaded.bytes, took));
  for (const std::string& key : loaded.some_empty_keys) {
    log_.Write(LogLevel::kNotice, "rdbLoadObject skipping empty key: " + key);
  }
  if (loaded.keys_empty > 0) {
    log_.Write(LogLevel::kNotice,
               "Done loading RDB, keys loaded: " + std::to_string(loaded.keys_loaded) +
                   ", keys expired: " + std::to_string(loaded.keys_expired) +
                   ", empty keys skipped: " + std::to_string(loaded.keys_empty) + ".");
  }
  if (loaded.keys_skipped > 0) {
    log_.Write(LogLevel::kWarning,
               "The snapshot contains " + std::to_string(loaded.keys_skipped) +
                   " keys of types that this server does not support. Skipping them "
                   "(rdb-skip-unknown yes); the next snapshot will not contain them");
  }
  if (!loaded.functions.empty() && !engine_.services().scripting->Available().ok()) {
    log_.Write(
        LogLevel::kWarning,
        "The snapshot contains libraries of functions. Keeping them for the next snapshots; they "
        "cannot be called (scripting no)");
  }
}

// Like Redis, sends no keyspace events for loaded keys.
absl::Status Dataset::Put(LoadedSnapshot loaded, const std::string& path,
                          const ReloadOptions& reload) {
  absl::Status status = absl::OkStatus();
  if (!reload.flushes && !reload.replaces) status = FindDuplicates(loaded);
  if (status.ok()) status = PutFunctions(loaded.functions, path, reload);
  if (!status.ok()) return status;
  if (reload.flushes) engine_.store().ClearAll();
  PutKeys(std::move(loaded));
  return absl::OkStatus();
}

void Dataset::PutKeys(LoadedSnapshot loaded) {
  for (auto& [index, keys] : loaded.databases) {
    Database& database = engine_.store().database(index);
    if (database.keys().size() == 0) {
      database.Adopt(std::move(keys));
      continue;
    }
    std::vector<std::string> names;
    keys.ForEach([&](const Entry& entry) { names.emplace_back(entry.key()); });
    for (const std::string& name : names) {
      database.Put(keys.Extract(*keys.FindEvenDue(name)), KeyEvent::kNone);
    }
  }
}

absl::Status Dataset::FindDuplicates(const LoadedSnapshot& loaded) const {
  absl::Status status = absl::OkStatus();
  for (const auto& [index, keys] : loaded.databases) {
    keys.ForEach([&, number = index](const Entry& entry) {
      if (engine_.store().database(number).Find(entry.key()) == nullptr) return;
      status = Refusal("the key '" + std::string(entry.key()) + "' is in memory and in the file");
    });
  }
  return status;
}

absl::Status Dataset::PutFunctions(const std::string& functions, const std::string& path,
                                   const ReloadOptions& reload) {
  Scripting& scripting = *engine_.services().scripting;
  if (functions.empty()) {
    if (reload.flushes) scripting.FlushLibraries();
    return absl::OkStatus();
  }
  const absl::Status status =
      scripting.RestoreLibraries(functions, reload.flushes    ? RestorePolicy::kFlush
                                            : reload.replaces ? RestorePolicy::kReplace
                                                              : RestorePolicy::kAppend);
  if (status.ok()) return status;
  return Refusal("Cannot load '" + path +
                 "': cannot load its libraries of functions: " + std::string(ErrorLine(status)));
}

}  // namespace zsetd
