#include "core/stream/pending_entries.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

// Neighbours that together have at most this many entries are joined: well below a full block, so
// that the halves of a split block are not joined again.
constexpr size_t kSmallPair = PendingBlock::kMostEntries / 2;

}  // namespace

PendingEntries PendingEntries::Clone() const {
  PendingEntries copy;
  copy.size_ = size_;
  for (const auto& block : blocks_) copy.blocks_.push_back(std::make_unique<PendingBlock>(*block));
  return copy;
}

size_t PendingEntries::BytesUsed() const {
  size_t bytes = blocks_.size() * sizeof(blocks_[0]);
  for (const auto& block : blocks_) bytes += block->BytesUsed();
  return bytes;
}

size_t PendingEntries::BlockFor(StreamId id) const {
  if (blocks_.empty() || blocks_.back()->last() < id) return blocks_.size();
  const auto at = std::partition_point(blocks_.begin(), blocks_.end(),
                                       [&](const auto& block) { return block->last() < id; });
  return static_cast<size_t>(at - blocks_.begin());
}

std::optional<PendingEntry> PendingEntries::Find(StreamId id) const {
  const size_t place = BlockFor(id);
  if (place == blocks_.size()) return std::nullopt;
  const PendingBlock& block = *blocks_[place];
  const size_t index = block.LowerBound(id);
  if (block.IdAt(index) != id) return std::nullopt;
  return block.At(index);
}

void PendingEntries::Set(const PendingEntry& entry) {
  size_t place = BlockFor(entry.id);
  const bool at_end = place == blocks_.size();
  if (!at_end) {
    PendingBlock& block = *blocks_[place];
    const size_t index = block.LowerBound(entry.id);
    if (block.IdAt(index) == entry.id) return block.Replace(index, entry);
    if (block.count() == PendingBlock::kMostEntries) {
      blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(place) + 1, block.SplitOffHalf());
      if (block.last() < entry.id) ++place;
    }
  } else if (place > 0 && blocks_.back()->count() < PendingBlock::kMostEntries) {
    --place;
  } else {
    if (place > 0) blocks_.back()->Shrink();
    blocks_.push_back(std::make_unique<PendingBlock>());
  }
  PendingBlock& block = *blocks_[place];
  block.Insert(block.LowerBound(entry.id), entry);
  ++size_;
}

bool PendingEntries::Erase(StreamId id) {
  const size_t place = BlockFor(id);
  if (place == blocks_.size()) return false;
  PendingBlock& block = *blocks_[place];
  const size_t index = block.LowerBound(id);
  if (block.IdAt(index) != id) return false;
  --size_;
  block.Erase(index);
  if (block.count() == 0) {
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(place));
  } else if (block.count() <= kSmallPair) {
    JoinIfSmall(place);
  }
  return true;
}

// Joins the block with the next or the previous one if both are small.
void PendingEntries::JoinIfSmall(size_t index) {
  for (const size_t first : {index, index - 1}) {
    if (first >= blocks_.size() - 1) continue;  // also of index 0, whose predecessor wraps
    if (blocks_[first]->count() + blocks_[first + 1]->count() > kSmallPair) continue;
    blocks_[first]->Append(*blocks_[first + 1]);
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(first) + 1);
    return;
  }
}

PendingEntries::Cursor::Cursor(const PendingEntries& entries, StreamId from,
                               std::optional<uint32_t> consumer)
    : entries_(&entries), consumer_(consumer), block_(entries.BlockFor(from)) {
  if (valid()) index_ = entries.blocks_[block_]->LowerBound(from);
  Settle();
}

void PendingEntries::Cursor::Next() {
  assert(valid());
  ++index_;
  Settle();
}

// Moves on to an entry of the consumer, from this place on, and reads it.
void PendingEntries::Cursor::Settle() {
  for (; valid(); ++block_, index_ = 0) {
    const PendingBlock& block = *entries_->blocks_[block_];
    if (consumer_ && !block.MayHave(*consumer_)) continue;
    for (; index_ < block.count(); ++index_) {
      entry_ = block.At(index_);
      if (!consumer_ || entry_.consumer == *consumer_) return;
    }
  }
}

}  // namespace zsetd
