// What commands ask of parts of the server that the engine does not know: narrow interfaces, which
// server/main.cc has implemented and handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "core/util/time.h"

namespace zsetd {

// What INFO says of snapshots.
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

// Keeps the data on disk.
class Persistence {
 public:
  // How DEBUG RELOAD goes.
  struct Reload {
    bool saves = true;      // before
    bool flushes = true;    // what is in memory
    bool replaces = false;  // keys that are in memory and in the file
  };

  virtual ~Persistence() = default;

  virtual SnapshotStatus status() const = 0;

  // Takes a snapshot and returns when it is on disk; not while IsSaving(). A refusal says why it is
  // not, and so does the log.
  virtual absl::Status Save() = 0;

  // Whether a snapshot is being taken in the background.
  virtual bool IsSaving() const = 0;

  // Takes one of this instant in the background: now, or as soon as the current request is done.
  virtual absl::Status StartSaving() = 0;
  virtual void ScheduleSaving() = 0;

  // Takes the snapshot that is due at the server's end: if save points are configured or
  // `must_save`, unless `may_not`. One that is being taken in the background is abandoned.
  virtual absl::Status SaveBeforeExit(bool must_save, bool may_not) = 0;

  // All data has been dropped (FLUSHALL): a restart must not bring it back.
  virtual void OnFlushAll() = 0;

  // Puts the data of the file in the place of that in memory, or adds it. A refusal leaves what is
  // in memory as it was.
  virtual absl::Status LoadAgain(const Reload& reload) = 0;

  // Does a part of the work that is due, not much longer than a millisecond's; and whether there is
  // more to do at once.
  virtual void Tick() = 0;
  virtual bool HasWork() const = 0;
};

}  // namespace zsetd
