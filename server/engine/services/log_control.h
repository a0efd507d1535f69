#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

struct Settings;

// The figures of the append-only log for INFO.
struct LogStatus {
  bool enabled = false;
  bool has_base = false;  // without a base, a restart cannot load the log
  bool rewriting = false;
  bool rewrite_scheduled = false;
  std::optional<Millis> last_rewrite_took;
  std::optional<Millis> rewriting_for;
  bool last_rewrite_ok = true;
  uint64_t rewrites = 0;  // since the start or CONFIG RESETSTAT
  uint64_t failures = 0;  // consecutive failures of rewrites
  bool last_write_ok = true;
  uint64_t current_bytes = 0;
  uint64_t base_bytes = 0;     // after the last rewrite, or the start
  uint64_t buffer_bytes = 0;   // not written yet
  uint64_t delayed_syncs = 0;  // how often the disk did not keep up
  size_t keys_saved = 0;       // by the running rewrite
  size_t keys_to_save = 0;     // by the running rewrite
};

// Controls the append-only log.
class LogControl {
 public:
  // With more bytes that are not written yet, the log is behind: everysec holds replies, and a
  // replica reads no more of its master's stream.
  static constexpr uint64_t kMostUnwritten = 64u << 20;

  virtual ~LogControl() = default;

  virtual LogStatus log_status() const = 0;

  // Restarts LogStatus::rewrites and LogStatus::delayed_syncs (CONFIG RESETSTAT).
  virtual void ResetStats() = 0;

  // Whether the log is being rewritten in the background.
  virtual bool IsRewriting() const = 0;

  // Rewrites the log from this instant on: immediately, or when the current request has ended and
  // no snapshot is being taken. If the log is off, writes a log of this instant.
  virtual absl::Status StartRewriting() = 0;
  virtual void ScheduleRewriting() = 0;

  // The end of the appended units, and the position before which all changes survive a crash of the
  // machine. ReplyHolds::IsOn() states whether replies wait for it.
  virtual uint64_t WrittenPosition() const = 0;
  virtual uint64_t DurablePosition() const = 0;

  // Replies to changes before this position may be sent: the changes are in the log's file, or,
  // while ReplyHolds::IsOn(), they are durable.
  virtual uint64_t ReleasedPosition() const = 0;

  // Whether changes before the position that are not durable may be lost permanently, because a
  // sync has failed.
  virtual bool MayBeLost(uint64_t position) const = 0;

  // Must be called before the settings change to these. An error is human-readable. Starts or ends
  // the log; within a transaction, when that has ended.
  virtual absl::Status Apply(const Settings& settings) = 0;

  // Replaces the data in memory by that of the log (DEBUG LOADAOF); within a transaction, when that
  // has ended.
  virtual absl::Status LoadLogAgain() = 0;
};

}  // namespace zsetd
