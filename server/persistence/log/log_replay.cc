#include "server/persistence/log/log_replay.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "server/engine/support/errors.h"
#include "server/persistence/log/log_loader.h"

namespace zsetd {
namespace {

constexpr Micros kBetweenReports{2'000'000};

// Whether the file begins with a snapshot.
absl::StatusOr<bool> IsSnapshot(FileSystem& files, const std::string& path) {
  auto file = files.Open(path);
  if (!file.ok()) return file.status();
  std::array<char, 6> magic{};
  const absl::StatusOr<size_t> count = (*file)->Read(magic);
  if (!count.ok()) return count.status();
  const std::string_view first(magic.data(), *count);
  return first.starts_with("REDIS") || first == "VALKEY";
}

}  // namespace

LogReplay::LogReplay(Engine& engine, const LogDirectory& directory, Dataset& dataset,
                     const Log& log)
    : engine_(engine),
      directory_(directory),
      dataset_(dataset),
      log_(log),
      applier_(engine),
      start_(engine.host().stopwatch()),
      reported_at_(start_) {}

absl::StatusOr<LogBytes> LogReplay::Run() {
  const LogManifest& manifest = directory_.manifest();
  const auto& files = manifest.incremental;
  absl::Status status = absl::OkStatus();
  if (dataset_.turns() != nullptr) AnnounceFiles();
  if (manifest.base) status = LoadBase(*manifest.base, files.empty());
  for (size_t i = 0; status.ok() && i < files.size(); ++i) {
    bytes_.old += std::exchange(bytes_.last, 0);
    status = LoadCommands(files[i], 0, i + 1 == files.size());
  }
  if (!status.ok()) return status;
  const uint64_t all = bytes_.base + bytes_.old + bytes_.last;
  log_.Write(LogLevel::kNotice, "DB loaded from append only file: " + std::to_string(commands_) +
                                    " commands, " + Megabytes(all) + ", " +
                                    Rate(all, engine_.host().stopwatch() - start_));
  return bytes_;
}

void LogReplay::AnnounceFiles() const {
  const auto announce = [this](const LogFile& file) {
    const auto opened = directory_.files().Open(directory_.PathOf(file.name));
    if (opened.ok()) dataset_.turns()->Announce((*opened)->size());
  };
  const LogManifest& manifest = directory_.manifest();
  if (manifest.base) announce(*manifest.base);
  for (const LogFile& file : manifest.incremental) announce(file);
}

absl::Status LogReplay::LoadBase(const LogFile& file, bool is_last) {
  const std::string path = directory_.PathOf(file.name);
  const absl::StatusOr<bool> is_snapshot = IsSnapshot(directory_.files(), path);
  if (!is_snapshot.ok()) return LogRefusal("open", path, is_snapshot.status());
  uint64_t offset = 0;
  if (*is_snapshot) {
    absl::StatusOr<LoadedSnapshot> loaded = dataset_.Read(path, /*keeps_expired=*/true);
    if (!loaded.ok()) return loaded.status();
    dataset_.Report(*loaded, engine_.host().stopwatch() - start_);
    offset = loaded->bytes;
    const absl::Status status = dataset_.Put(*std::move(loaded), path, ReloadOptions());
    if (!status.ok()) return status;
  }
  const absl::Status status = LoadCommands(file, offset, is_last);
  bytes_.base = std::exchange(bytes_.last, 0);
  return status;
}

absl::Status LogReplay::LoadCommands(const LogFile& file, uint64_t offset, bool is_last) {
  LoadTurns* const turns = dataset_.turns();
  const LogLoadOptions options = {
      .apply = [this, turns](Args argv) -> absl::Status {
        constexpr uint64_t kPerLook = 16;
        if (turns != nullptr && ++applied_ % kPerLook == 0 && !turns->GoOn()) {
          return absl::CancelledError("the load was canceled");
        }
        return applier_.Apply(argv);
      },
      .discard = [this] { applier_.Restart(); },
      .progress = [&](uint64_t bytes, uint64_t total) { ReportProgress(file, bytes, total); },
      .most_damaged_bytes =
          is_last ? static_cast<uint64_t>(engine_.settings().aof_load_corrupt_tail_max_size) : 0,
  };
  applier_.Begin();
  applier_.Restart();
  const absl::StatusOr<LoadedLog> loaded =
      LoadLog(directory_.files(), directory_.PathOf(file.name), offset, options);
  applier_.End();
  if (turns != nullptr && turns->abandoned()) return absl::CancelledError();
  if (!loaded.ok()) return loaded.status();
  if (turns != nullptr) turns->EndFile(loaded->bytes);
  commands_ += loaded->commands;
  if (applier_.skipped() > 0) {
    log_.Write(LogLevel::kWarning,
               "Skipped " + std::to_string(applier_.skipped()) +
                   " commands on keys of types that this server does not support (rdb-skip-unknown "
                   "yes). The first one: '" +
                   applier_.first_skipped() + "'");
  }
  bytes_.last = loaded->whole_bytes;
  if (!loaded->IsTruncated()) return absl::OkStatus();
  return TruncateAt(file, loaded->whole_bytes, loaded->bytes, is_last);
}

void LogReplay::ReportProgress(const LogFile& file, uint64_t bytes, uint64_t total) {
  if (dataset_.turns() != nullptr) dataset_.turns()->set_file_bytes(bytes);
  const Micros now = engine_.host().stopwatch();
  if (now - reported_at_ < kBetweenReports) return;
  reported_at_ = now;
  log_.Write(LogLevel::kNotice, "Loading " + file.name + ": " +
                                    std::to_string(bytes * 100 / std::max<uint64_t>(total, 1)) +
                                    " %, " + Rate(bytes, now - start_));
}

absl::Status LogReplay::TruncateAt(const LogFile& file, uint64_t whole_bytes, uint64_t bytes,
                                   bool is_last) {
  const std::string path = directory_.PathOf(file.name);
  const std::string where = "at byte " + std::to_string(whole_bytes) + " of " +
                            std::to_string(bytes) + " of '" + path + "'";
  if (!is_last || !engine_.settings().aof_load_truncated) {
    return Refusal("The append-only log is cut off " + where +
                   (is_last ? ". Set aof-load-truncated yes to remove the incomplete end"
                            : ", but it is not the last file"));
  }
  log_.Write(LogLevel::kWarning,
             "The append-only log is cut off " + where +
                 ". Removing the incomplete unit at the end (aof-load-truncated yes)");
  auto opened = directory_.files().Append(path);
  absl::Status status = opened.status();
  if (status.ok()) status = (*opened)->Truncate(whole_bytes);
  if (status.ok()) status = (*opened)->Sync();
  return status.ok() ? status : LogRefusal("truncate", path, status);
}

}  // namespace zsetd
