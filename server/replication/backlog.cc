#include "server/replication/backlog.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace zsetd {

Backlog::Backlog(ReplicationState& state) : state_(state), first_offset_(state.offset() + 1) {}

uint64_t Backlog::Append(OutputBuffer& unit) {
  Append(unit.view());
  return static_cast<uint64_t>(state_.offset());
}

void Backlog::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (pieces_.empty() || pieces_.back().size == kPieceBytes) {
      pieces_.push_back({std::make_unique_for_overwrite<char[]>(kPieceBytes), end() + 1, 0});
    }
    Piece& last = pieces_.back();
    const size_t count = std::min(bytes.size(), kPieceBytes - last.size);
    std::copy_n(bytes.data(), count, last.bytes.get() + last.size);
    last.size += count;
    state_.Advance(count);
    bytes.remove_prefix(count);
  }
}

size_t Backlog::Copy(int64_t offset, size_t most, OutputBuffer& out) const {
  assert(Has(offset));
  if (offset > end()) return 0;
  auto piece = std::ranges::upper_bound(pieces_, offset, {}, &Piece::first);
  --piece;
  const auto skipped = static_cast<size_t>(offset - piece->first);
  const size_t count = std::min(most, piece->size - skipped);
  out.Append(std::string_view(piece->bytes.get() + skipped, count));
  return count;
}

void Backlog::DropBefore(int64_t offset) {
  while (!pieces_.empty() &&
         pieces_.front().first + static_cast<int64_t>(pieces_.front().size) <= offset &&
         pieces_.front().size == kPieceBytes) {
    pieces_.pop_front();
  }
  first_offset_ = pieces_.empty() ? end() + 1 : std::max(first_offset_, pieces_.front().first);
  assert(first_offset_ <= end() + 1);
}

}  // namespace zsetd
