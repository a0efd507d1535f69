#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/rdb/rdb_writer.h"
#include "server/persistence/snapshot/snapshot_sink.h"

namespace zsetd {

// A piece of a snapshot's file on its way to the disk: encoded bytes, or a part that is not encoded
// yet.
struct SnapshotPiece {
  std::string bytes;
  std::unique_ptr<UnwrittenPart> part;  // null: `bytes` is the piece
  bool compresses = false;

  size_t size() const { return part == nullptr ? bytes.size() : part->bytes(); }  // in memory
};

// Writes the pieces in order, and combines small ones. After each write, calls `on_written` with
// the size() of the written pieces, unless it is null. If it returns false, the rest is dropped.
// Slow if strings are compressed.
absl::Status WritePieces(std::vector<SnapshotPiece> pieces, SnapshotSink& sink,
                         const std::function<bool(size_t size)>& on_written = nullptr);

}  // namespace zsetd
