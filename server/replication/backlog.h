#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

#include "protocol/resp/output_buffer.h"
#include "server/engine/propagation/journal.h"
#include "server/engine/state/replication_state.h"

namespace zsetd {

// The last bytes of the history, for connected replicas and for replicas that reconnect. The bytes
// are stored once for any number of replicas, in pieces. Each replica has an offset of its own.
//
//   [ 64 KB | 64 KB | ... | last piece, growing → ]
//     ↑ first_offset                            ↑ end, the history's offset
class Backlog : public Journal {
 public:
  // Begins empty, at the present offset of the history. `state` outlives this.
  explicit Backlog(ReplicationState& state);

  // Appends a copy of the bytes and advances the history. Returns the offset of the last
  // byte. O(bytes).
  uint64_t Append(OutputBuffer& unit) override;

  int64_t first_offset() const { return first_offset_; }  // the offset of the first stored byte
  int64_t end() const { return state_.offset(); }         // the offset of the last byte
  size_t size() const { return static_cast<size_t>(end() + 1 - first_offset_); }
  size_t BytesUsed() const { return pieces_.size() * kPieceBytes; }

  // Whether the stream can continue at this offset: its byte is stored, or is the next one to be
  // appended.
  bool Has(int64_t offset) const { return offset >= first_offset_ && offset <= end() + 1; }

  // Copies up to `most` bytes that start at this offset, from one piece. Returns the number of
  // copied bytes. O(log(pieces) + bytes).
  size_t Copy(int64_t offset, size_t most, OutputBuffer& out) const;

  // Drops full pieces whose bytes are all before this offset.
  void DropBefore(int64_t offset);

 private:
  static constexpr size_t kPieceBytes = 64u << 10;

  struct Piece {
    std::unique_ptr<char[]> bytes;
    int64_t first = 0;  // the offset of the first byte
    size_t size = 0;
  };

  void Append(std::string_view bytes);

  ReplicationState& state_;
  std::deque<Piece> pieces_;
  int64_t first_offset_;
};

}  // namespace zsetd
