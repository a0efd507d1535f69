#include "server/persistence/snapshot/snapshot_piece.h"

#include <string_view>
#include <utility>

#include "protocol/rdb/rdb_file.h"

namespace zsetd {
namespace {

constexpr size_t kBytesAtOnce = 256u << 10;

}  // namespace

absl::Status WritePieces(std::vector<SnapshotPiece> pieces, SnapshotSink& sink,
                         const std::function<bool(size_t size)>& on_written) {
  absl::Status status;
  std::string made;
  size_t size = 0;  // of the pieces in `made`
  const auto write = [&](std::string_view bytes) {
    if (status.ok() && !bytes.empty()) status = sink.Write(bytes);
    const bool goes_on = on_written == nullptr || on_written(std::exchange(size, 0));
    if (!goes_on && status.ok()) status = absl::CancelledError("the snapshot was canceled");
  };
  for (SnapshotPiece& piece : pieces) {
    size += piece.size();
    if (!status.ok()) {
      piece = SnapshotPiece();
    } else if (piece.part != nullptr) {
      RdbFileWriter writer(made, piece.compresses);
      std::exchange(piece.part, nullptr)->Write(writer);
    } else if (made.empty()) {
      made = std::move(piece.bytes);
    } else {
      made += std::exchange(piece.bytes, {});
    }
    if (made.size() < kBytesAtOnce) continue;
    write(made);
    made.clear();
  }
  write(made);
  return status;
}

}  // namespace zsetd
