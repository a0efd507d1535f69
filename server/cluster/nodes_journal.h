#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zsetd {

// The texts that nodes.conf would have had since its last sync, in a file next to it. A text is
// appended without a sync. That takes some microseconds, and the text survives the end of the
// process. A power failure may remove or damage texts; nodes.conf is then still whole.
//
//   nodes.conf            base                               synced, replaced as a whole
//   nodes.conf.unsynced   text, text, ...                    the texts that followed the base
//
// A record is a line with the length of a text and a checksum, then the text. The checksum is that
// of the base and the text together. So a record counts only if it is complete, and if its base is
// the present nodes.conf: not if an administrator has edited or replaced that file since.
//
// Invariant: all records have the same base.
class NodesJournal {
 public:
  explicit NodesJournal(std::string path) : path_(std::move(path)) {}
  NodesJournal(const NodesJournal&) = delete;

  // Removes the file if it is empty.
  ~NodesJournal();

  // Returns the last text that was appended to `base`; nullopt if no text was. Must be called
  // first. The error is human-readable. O(bytes of the file).
  absl::StatusOr<std::optional<std::string>> Load(std::string_view base);

  // nodes.conf has the text `base`, and is synced. Removes all records, with a sync if there are
  // any. If that fails, Append() fails until the next call succeeds; the records do not count,
  // because their base has changed.
  void Restart(std::string_view base);

  // Appends a text. Returns false without a base, if the text cannot be written, or if the file is
  // too large: nodes.conf must then be replaced.
  bool Append(std::string_view text);

  // The base is unknown: nodes.conf may have been replaced. Append() fails until Restart().
  void Suspend() { base_checksum_.reset(); }

 private:
  bool Open();

  const std::string path_;
  int descriptor_ = -1;  // -1: not opened yet
  size_t size_ = 0;      // of the file
  std::optional<uint64_t> base_checksum_;
};

}  // namespace zsetd
