// Interfaces of the parts of the server above the engine. server/main.cc passes the
// implementations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/config/settings.h"

namespace zsetd {

// The figures of snapshots for INFO.
struct SnapshotStatus {
  bool saving = false;    // in the background
  size_t keys_saved = 0;  // of the snapshot that is being taken, as the next two
  size_t keys_to_save = 0;
  std::optional<Millis> saving_for;
  bool last_save_ok = true;  // the last one in the background
  std::optional<Millis> last_save_took;
  Millis last_saved_at{0};               // since the Unix epoch; at first when the server started
  uint64_t changes_since_last_save = 0;  // since the instant that it shows
  uint64_t saves = 0;
  uint64_t keys_loaded = 0;  // by the last load
  uint64_t keys_expired = 0;
};

// The figures of the append-only log for INFO.
struct LogStatus {
  bool enabled = false;
  bool has_base = false;  // without one nothing that the log has survives
  bool rewriting = false;
  bool rewrite_scheduled = false;
  std::optional<Millis> last_rewrite_took;
  std::optional<Millis> rewriting_for;
  bool last_rewrite_ok = true;
  uint64_t rewrites = 0;
  uint64_t failures = 0;  // of rewrites, one after the other
  bool last_write_ok = true;
  uint64_t current_bytes = 0;
  uint64_t base_bytes = 0;     // after the last rewrite, or the start
  uint64_t buffer_bytes = 0;   // not written yet
  uint64_t delayed_syncs = 0;  // how often the disk did not keep up
  size_t keys_saved = 0;       // by the rewrite, as the next
  size_t keys_to_save = 0;
};

// The figures for INFO while data is loaded: at the start, or from a master.
struct LoadingStatus {
  Millis started_at{0};
  uint64_t total_bytes = 0;
  uint64_t loaded_bytes = 0;
  bool is_beside = false;  // the old data stays readable
};

// Keeps the data on disk.
class Persistence {
 public:
  // How DEBUG RELOAD goes.
  struct Reload {
    bool saves = true;      // before
    bool flushes = true;    // the data in memory
    bool replaces = false;  // keys that are in memory and in the file

    // Whether the data is the same afterwards.
    bool IsPlain() const { return saves && flushes; }
  };

  virtual ~Persistence() = default;

  // Nullopt unless data is being loaded while clients are connected.
  virtual std::optional<LoadingStatus> loading() const { return std::nullopt; }

  virtual SnapshotStatus status() const = 0;

  // Takes a snapshot and returns when it is on disk; not while IsSaving(). A refusal states the
  // reason, and the log too.
  virtual absl::Status Save() = 0;

  // Whether a snapshot is being taken in the background.
  virtual bool IsSaving() const = 0;

  // Takes one of this instant in the background: now, or as soon as the current request is done.
  virtual absl::Status StartSaving() = 0;
  virtual void ScheduleSaving() = 0;

  virtual LogStatus log_status() const = 0;

  // CONFIG RESETSTAT: restarts LogStatus::delayed_syncs.
  virtual void ResetStats() = 0;

  // Whether the append-only log is being rewritten in the background.
  virtual bool IsRewriting() const = 0;

  // Rewrites it from this instant on: now, or as soon as the current request is done and no
  // snapshot is being taken. Without a log one of this instant is written.
  virtual absl::Status StartRewriting() = 0;
  virtual void ScheduleRewriting() = 0;

  // The position in the log up to which it was appended, and that before which all survives a crash
  // of the machine. Whether replies wait for it: ReplyHolds::IsOn().
  virtual uint64_t WrittenPosition() const = 0;
  virtual uint64_t DurablePosition() const = 0;

  // Replies to changes before this position may be sent: the log's file has them, or, while
  // ReplyHolds::IsOn(), they are durable.
  virtual uint64_t ReleasedPosition() const = 0;

  // Whether changes before the position that are not durable may be lost permanently: a sync has
  // failed.
  virtual bool MayBeLost(uint64_t position) const = 0;

  // The settings are about to be these. A refusal is human-readable. Within a transaction the log
  // begins or ends when that has ended.
  virtual absl::Status Apply(const Settings& settings) = 0;

  // Replaces the data in memory by that of the append-only log (DEBUG LOADAOF); within a
  // transaction when that has ended.
  virtual absl::Status LoadLogAgain() = 0;

  // Takes the snapshot that is due at the server's end: if save points are configured or
  // `must_save`, unless `may_not`. One that is being taken in the background is abandoned.
  virtual absl::Status SaveBeforeExit(bool must_save, bool may_not) = 0;

  // Must be called after all data was dropped (FLUSHALL), which a restart must not restore. A
  // running snapshot is cancelled immediately, and the end of the unit saves the present data if
  // there are save points. Between two units, while DiskState::flush_is_unsaved().
  virtual void OnFlushAll() = 0;
  virtual void SaveFlushed() = 0;

  // Replaces the data in memory by that of the file, or adds it. A refusal leaves the data in
  // memory unchanged.
  virtual absl::Status LoadAgain(const Reload& reload) = 0;
};

// Moves keys to other servers (MIGRATE). All clients wait during the call.
class Migration {
 public:
  struct Target {
    std::string_view host;
    std::string_view port;
    int64_t database = 0;
    std::optional<std::string_view> user;      // none: the default one
    std::optional<std::string_view> password;  // none: without authentication
    Millis timeout{1000};                      // of each step on the connection
    bool replaces = false;                     // keys that the target has
  };

  struct Parcel {
    std::string_view key;
    Millis time_to_live{0};  // 0: without end
    std::string payload;     // as DUMP's
  };
  // Makes the parcel with this number; may be called again.
  using Pack = std::function<Parcel(size_t number)>;

  virtual ~Migration() = default;

  // Sends `count` parcels, one in memory at a time, and waits for the reply to each. Stores the
  // numbers of the accepted ones in `accepted`, whatever the result is. A refusal is the error to
  // reply.
  virtual absl::Status Send(const Target& target, size_t count, const Pack& pack,
                            std::vector<size_t>& accepted) = 0;

  // The connections that are kept for the next transfer.
  virtual size_t cached_connections() const = 0;
};

class Replication;
class Scripting;

// The services of the engine. Each outlives all requests; null: the service does not exist.
struct Services {
  Scripting* scripting = nullptr;      // runs scripts
  Persistence* persistence = nullptr;  // keeps the data on disk
  Replication* replication = nullptr;  // talks to masters and replicas
  Migration* migration = nullptr;      // hands keys over to other servers
};

}  // namespace zsetd
