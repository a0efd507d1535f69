#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/keyspace/access_tracker.h"
#include "core/util/time.h"
#include "protocol/rdb/rdb_file.h"
#include "server/engine/config/settings.h"
#include "server/engine/store/snapshot.h"

namespace zsetd {

// Makes the bytes of a file of the entries of a snapshot (protocol/rdb/rdb_file.h).
class SnapshotEncoder : public SnapshotReceiver {
 public:
  // `access_tracker` says what is written of the use of keys, if anything; it outlives this.
  SnapshotEncoder(const Settings& settings, const AccessTracker& access_tracker);

  // Writes what stands before the first key; `functions` as Scripting::DumpLibraries() returns
  // them; `is_log_base` if commands of an append-only log follow. `snapshot` hands its entries out
  // afterwards.
  void Begin(Millis now, size_t used_bytes, std::string_view functions, bool is_log_base,
             const Snapshot& snapshot);

  void Receive(int database, const Entry& entry) override;

  // Writes what stands behind the last key, but for the checksum.
  void End();

  size_t keys() const { return keys_; }          // written
  size_t size() const { return bytes_.size(); }  // of what was not taken yet
  std::string Take();

 private:
  enum class Use { kNone, kIdle, kFrequency };

  void Select(int database);
  void WriteUse(const Entry& entry);

  std::string bytes_;
  RdbFileWriter writer_;
  const AccessTracker& access_tracker_;
  const Use use_;
  const Snapshot* snapshot_ = nullptr;
  std::vector<int> selected_once_;
  int selected_ = -1;
  size_t keys_ = 0;
};

}  // namespace zsetd
