#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/keyspace/access_tracker.h"
#include "core/string/byte_string.h"
#include "core/util/time.h"
#include "protocol/rdb/rdb_file.h"
#include "server/engine/config/settings.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/store/dataset_snapshot.h"
#include "server/engine/store/rdb_value_slices.h"
#include "server/persistence/snapshot/snapshot_piece.h"

namespace zsetd {

// The contents of a snapshot in addition to the keys.
struct SnapshotContents {
  std::string functions;     // as Scripting::DumpLibraries() returns them
  bool is_log_base = false;  // commands of an append-only log follow
  bool with_keys = true;

  std::optional<HistoryPlace> place;  // of the data, if a replica may continue from it
};

// Encodes the entries of a snapshot as the bytes of a file (protocol/rdb/rdb_file.h).
//
// A large value is written in slices, but must be contiguous in the file. Other entries that are
// about to change are received in the meantime. They are collected in a second section until the
// large value is complete:
//
//   main     [ entry | entry | large value, a slice at a time ... ]
//   early    [ entry | entry ... ]                                   then follows
//
// Large values that are about to change themselves are written next, in the order in which they
// were received.
class SnapshotEncoder : public SnapshotReceiver {
 public:
  // `access_tracker` defines which access data of keys is written, if any. It outlives this.
  SnapshotEncoder(const Settings& settings, const AccessTracker& access_tracker,
                  const LargeValueLimits& limits = LargeValueLimits());
  ~SnapshotEncoder() override;

  // Writes the part before the first key. Must be called before `snapshot` hands out entries.
  void Begin(Millis now, size_t used_bytes, const SnapshotContents& contents,
             const DatasetSnapshot& snapshot);

  void Receive(int database, const Entry& entry) override;
  bool HasOpen() const override { return !open_.empty(); }
  void ContinueOpen() override;
  bool IsOpen(const Entry& entry) const override;
  void BeforeEdit(const Entry& entry, std::span<const ByteRange> ranges) override;
  void AfterEdit(const void* before, const Entry& entry) override;
  void Abandon() override;

  // Writes the part after the last key, except the checksum.
  void End();

  size_t keys() const { return keys_; }  // written so far
  size_t size() const;                   // the number of bytes that were not taken yet

  // Removes and returns the encoded pieces of the file, in order.
  std::vector<SnapshotPiece> Take();

 private:
  enum class Use { kNone, kIdle, kFrequency };

  class Section;
  struct OpenValue;

  void Select(int database, Section& section);
  void WriteMarks(const Entry& entry, RdbFileWriter& writer) const;
  void CloseFirst();

  const bool compresses_;
  const LargeValueLimits limits_;
  const AccessTracker& access_tracker_;
  const Use use_;
  const std::unique_ptr<Section> main_;
  const std::unique_ptr<Section> early_;
  bool is_inside_value_ = false;  // whether `main_` ends in the middle of a value
  const DatasetSnapshot* snapshot_ = nullptr;
  std::vector<int> selected_once_;
  std::deque<std::unique_ptr<OpenValue>> open_;  // the first is being written
  absl::flat_hash_map<const void*, OpenValue*> open_by_identity_;
  size_t keys_ = 0;
};

}  // namespace zsetd
