#pragma once

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The state of the data on disk, as persistence reports it: whether writes can be kept. Decides
// which requests are allowed.
class DiskState {
 public:
  // `settings` outlives it.
  explicit DiskState(const Settings& settings) : settings_(settings) {}

  // Whether all data has been dropped (FLUSHALL) that the snapshot on disk still has, and the end
  // of that unit is to replace it (SnapshotControl::SaveFlushed).
  void set_flush_is_unsaved(bool unsaved) { flush_is_unsaved_ = unsaved; }
  bool flush_is_unsaved() const { return flush_is_unsaved_; }

  // Whether the last snapshot could not be kept (stop-writes-on-bgsave-error).
  void set_snapshots_fail(bool fail) { snapshots_fail_ = fail; }

  // Why the append-only log cannot be written at present; empty if it can.
  void set_log_error(std::string reason) { log_error_ = std::move(reason); }
  const std::string& log_error() const { return log_error_; }

  // Whether requests that write are refused because they might not be kept, and the error then.
  bool ForbidsWrites() const {
    return (snapshots_fail_ && settings_.stop_writes_on_bgsave_error && settings_.save.Any()) ||
           !log_error_.empty();
  }
  absl::Status Error() const;

 private:
  const Settings& settings_;
  bool flush_is_unsaved_ = false;
  bool snapshots_fail_ = false;
  std::string log_error_;
};

}  // namespace zsetd
