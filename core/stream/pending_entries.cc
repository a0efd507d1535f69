#include "core/stream/pending_entries.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace zsetd {
namespace {

// Neighbours that together have at most this many entries are joined: well below a full block, so
// that the halves of a split block are not joined again.
constexpr size_t kSmallPair = PendingBlock::kMostEntries / 2;

bool IsClaimedBefore(const PendingEntry& a, const PendingEntry& b) {
  if (a.is_released() != b.is_released()) return a.is_released();
  return std::tie(a.delivered, a.id) < std::tie(b.delivered, b.id);
}

}  // namespace

PendingEntries PendingEntries::Clone() const {
  PendingEntries copy;
  copy.size_ = size_;
  for (const auto& block : blocks_) copy.blocks_.Append(std::make_unique<PendingBlock>(*block));
  return copy;
}

size_t PendingEntries::BytesUsed() const {
  size_t bytes = blocks_.BytesUsed();
  for (const auto& block : blocks_) bytes += block->BytesUsed();
  return bytes;
}

size_t PendingEntries::BlockFor(StreamId id) const {
  if (blocks_.empty() || blocks_.back()->last() < id) return blocks_.size();
  if (blocks_.front()->last() >= id) return 0;  // the oldest are acknowledged first
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

template <class Visit>
void PendingEntries::ForEachIdle(Millis since, const Counts& counts, StreamId from,
                                 Visit visit) const {
  const size_t first = BlockFor(from);
  for (size_t place = first; place < blocks_.size(); ++place) {
    const PendingBlock& block = *blocks_[place];
    if (block.HasNoneIdleSince(since)) continue;
    for (size_t i = place == first ? block.LowerBound(from) : 0; i < block.count(); ++i) {
      const PendingEntry entry = block.At(i);
      if (entry.IsIdleSince(since) && counts(entry.id) && !visit(entry)) return;
    }
  }
}

bool PendingEntries::AnyIdle(Millis since, const Counts& counts, StreamId from) const {
  bool any = false;
  ForEachIdle(since, counts, from, [&](const PendingEntry&) {
    any = true;
    return false;
  });
  return any;
}

// Keeps at most twice as many entries as needed.
std::vector<PendingEntry> PendingEntries::Idle(Millis since, uint64_t most, const Counts& counts,
                                               StreamId from) const {
  std::vector<PendingEntry> idle;
  const auto keep_first = [&] {
    const auto end = idle.begin() + static_cast<ptrdiff_t>(most);
    std::nth_element(idle.begin(), end, idle.end(), IsClaimedBefore);
    idle.erase(end, idle.end());
  };
  ForEachIdle(since, counts, from, [&](const PendingEntry& entry) {
    idle.push_back(entry);
    if (idle.size() / 2 > most) keep_first();
    return true;
  });
  if (idle.size() > most) keep_first();
  std::sort(idle.begin(), idle.end(), IsClaimedBefore);
  return idle;
}

std::optional<Millis> PendingEntries::NextDelivery(Millis after, StreamId from) const {
  std::optional<Millis> next;
  const size_t first = BlockFor(from);
  for (size_t place = first; place < blocks_.size(); ++place) {
    const PendingBlock& block = *blocks_[place];
    if (next && block.EarliestDelivery() >= *next) continue;
    for (size_t i = place == first ? block.LowerBound(from) : 0; i < block.count(); ++i) {
      const PendingEntry entry = block.At(i);
      const bool is_later = !entry.is_released() && entry.delivered > after;
      if (is_later && (!next || entry.delivered < *next)) next = entry.delivered;
    }
  }
  return next;
}

std::optional<PendingEntry> PendingEntries::Set(const PendingEntry& entry) {
  size_t place = BlockFor(entry.id);
  const bool at_end = place == blocks_.size();
  if (!at_end) {
    PendingBlock& block = *blocks_[place];
    const size_t index = block.LowerBound(entry.id);
    if (block.IdAt(index) == entry.id) {
      const PendingEntry old = block.At(index);
      block.Replace(index, entry);
      return old;
    }
    if (block.count() == PendingBlock::kMostEntries) {
      blocks_.Insert(place + 1, block.SplitOffHalf());
      if (block.last() < entry.id) ++place;
    }
  } else if (place > 0 && blocks_.back()->count() < PendingBlock::kMostEntries) {
    --place;
  } else {
    if (place > 0) blocks_.back()->Shrink();
    blocks_.Append(std::make_unique<PendingBlock>());
  }
  PendingBlock& block = *blocks_[place];
  block.Insert(at_end ? block.count() : block.LowerBound(entry.id), entry);
  ++size_;
  return std::nullopt;
}

std::optional<PendingEntry> PendingEntries::Take(StreamId id) {
  const size_t place = BlockFor(id);
  if (place == blocks_.size()) return std::nullopt;
  PendingBlock& block = *blocks_[place];
  const size_t index = block.LowerBound(id);
  if (block.IdAt(index) != id) return std::nullopt;
  const PendingEntry taken = block.At(index);
  --size_;
  block.Erase(index);
  if (block.count() == 0) {
    blocks_.Remove(place);
  } else if (block.count() <= kSmallPair) {
    JoinIfSmall(place);
  }
  return taken;
}

// Joins the block with the next or the previous one if both are small.
void PendingEntries::JoinIfSmall(size_t index) {
  for (const size_t first : {index, index - 1}) {
    if (first >= blocks_.size() - 1) continue;  // also of index 0, whose predecessor wraps
    if (blocks_[first]->count() + blocks_[first + 1]->count() > kSmallPair) continue;
    blocks_[first]->Append(*blocks_[first + 1]);
    blocks_.Remove(first + 1);
    return;
  }
}

PendingEntries::Cursor::Cursor(const PendingEntries& entries, StreamId from,
                               std::optional<uint32_t> consumer, size_t most)
    : entries_(&entries), consumer_(consumer), left_(most), block_(entries.BlockFor(from)) {
  if (valid()) index_ = entries.blocks_[block_]->LowerBound(from);
  Settle();
}

void PendingEntries::Cursor::Next() {
  assert(valid());
  ++index_;
  --left_;
  Settle();
}

// Moves on to an entry of the consumer, from this place on, and reads it.
void PendingEntries::Cursor::Settle() {
  if (left_ == 0) return;
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
