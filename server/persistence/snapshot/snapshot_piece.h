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

// A piece of a snapshot's file on its way to the disk: bytes of the file, or a part that is still
// to be made into bytes.
struct SnapshotPiece {
  std::string bytes;
  std::unique_ptr<UnwrittenPart> part;  // null: these are the bytes
  bool compresses = false;

  size_t size() const { return part == nullptr ? bytes.size() : part->bytes(); }  // of memory
};

// Writes the pieces in order, small ones together. After some, calls `on_written` with their
// size(), if it is not null; if that returns false the rest is dropped. Slow for strings that are
// compressed.
absl::Status WritePieces(std::vector<SnapshotPiece> pieces, SnapshotSink& sink,
                         const std::function<bool(size_t size)>& on_written = nullptr);

}  // namespace zsetd
