#include "core/stream/pending_block.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/util/allocation.h"
#include "core/util/packed_integer.h"

namespace zsetd {
namespace {

constexpr size_t kLeastPendingRoom = 4;

}  // namespace

PendingBlock::PendingBlock(const PendingBlock& block)
    : least_(block.least_),
      consumers_(block.consumers_),
      widths_(block.widths_),
      record_bytes_(block.record_bytes_),
      count_(block.count_),
      room_(block.count_) {
  const size_t bytes = kMargin + size_t{count_} * record_bytes_;
  records_ = std::make_unique<char[]>(bytes);
  if (block.records_ != nullptr) std::memcpy(records_.get(), block.records_.get(), bytes);
}

// Times may be negative in damaged or foreign data; their order does not matter.
PendingBlock::Values PendingBlock::ValuesOf(const PendingEntry& entry) {
  return {entry.id.ms, entry.id.seq, entry.consumer, static_cast<uint64_t>(entry.delivered.count()),
          entry.deliveries};
}

PendingEntry PendingBlock::EntryOf(const Values& values) {
  return {.id = {values[0], values[1]},
          .consumer = static_cast<uint32_t>(values[2]),
          .delivered = Millis(static_cast<int64_t>(values[3])),
          .deliveries = values[4]};
}

PendingEntry PendingBlock::At(size_t index) const {
  assert(index < count_);
  const char* at = RecordAt(index);
  Values values = least_;
  for (size_t i = 0; i < kFields; ++i) {
    values[i] += LoadPacked(at, widths_[i]);
    at += widths_[i];
  }
  return EntryOf(values);
}

StreamId PendingBlock::IdAt(size_t index) const {
  assert(index < count_);
  const char* at = RecordAt(index);
  return {least_[0] + LoadPacked(at, widths_[0]),
          least_[1] + LoadPacked(at + widths_[0], widths_[1])};
}

// Most searches are for the first entry, because the oldest ones are acknowledged first.
size_t PendingBlock::LowerBound(StreamId id) const {
  const int ms_bytes = widths_[0], seq_bytes = widths_[1];
  const auto is_below = [&](size_t index) {
    const char* const at = RecordAt(index);
    const uint64_t ms = least_[0] + LoadPacked(at, ms_bytes);
    if (ms != id.ms) return ms < id.ms;
    return least_[1] + LoadPacked(at + ms_bytes, seq_bytes) < id.seq;
  };
  if (count_ == 0 || !is_below(0)) return 0;
  size_t low = 1, high = count_;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (is_below(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool PendingBlock::Fits(const Values& values) const {
  for (size_t i = 0; i < kFields; ++i) {
    if (values[i] < least_[i] || values[i] - least_[i] > PackedMax(widths_[i])) return false;
  }
  return true;
}

void PendingBlock::Store(size_t index, const Values& values) {
  char* at = RecordAt(index);
  for (size_t i = 0; i < kFields; ++i) {
    StorePacked(at, widths_[i], values[i] - least_[i]);
    at += widths_[i];
  }
  consumers_ |= uint64_t{1} << values[2] % 64;
}

void PendingBlock::Reserve(size_t records) {
  auto moved = std::make_unique<char[]>(kMargin + records * record_bytes_);
  if (records_ != nullptr) {
    std::memcpy(moved.get(), records_.get(), kMargin + size_t{count_} * record_bytes_);
  }
  records_ = std::move(moved);
  room_ = static_cast<uint8_t>(records);
}

void PendingBlock::Insert(size_t index, const PendingEntry& entry) {
  assert(index <= count_ && count_ < kMostEntries);
  const Values values = ValuesOf(entry);
  const size_t more_room = std::clamp<size_t>(size_t{count_} * 2, kLeastPendingRoom, kMostEntries);
  if (count_ == 0 || !Fits(values)) {
    std::vector<PendingEntry> all = All();
    all.insert(all.begin() + static_cast<ptrdiff_t>(index), entry);
    return Rewrite(all, count_ < room_ ? room_ : more_room);
  }
  if (count_ == room_) Reserve(more_room);
  char* const at = RecordAt(index);
  std::memmove(at + record_bytes_, at, (count_ - index) * record_bytes_);
  ++count_;
  Store(index, values);
}

void PendingBlock::Replace(size_t index, const PendingEntry& entry) {
  assert(index < count_);
  const Values values = ValuesOf(entry);
  if (Fits(values)) return Store(index, values);
  std::vector<PendingEntry> all = All();
  all[index] = entry;
  Rewrite(all, room_);
}

void PendingBlock::Erase(size_t index) {
  assert(index < count_);
  char* const at = RecordAt(index);
  std::memmove(at, at + record_bytes_, (count_ - index - 1u) * record_bytes_);
  --count_;
}

void PendingBlock::Append(const PendingBlock& next) {
  assert(count_ + next.count_ <= kMostEntries);
  std::vector<PendingEntry> all = All();
  const std::vector<PendingEntry> more = next.All();
  all.insert(all.end(), more.begin(), more.end());
  Rewrite(all, all.size());
}

std::unique_ptr<PendingBlock> PendingBlock::SplitOffHalf() {
  const std::vector<PendingEntry> all = All();
  const size_t half = all.size() / 2;
  auto rest = std::make_unique<PendingBlock>();
  rest->Rewrite(std::span(all).subspan(half), kMostEntries);
  Rewrite(std::span(all).first(half), kMostEntries);
  return rest;
}

void PendingBlock::Shrink() {
  if (count_ < room_) Rewrite(All(), count_);
}

size_t PendingBlock::BytesUsed() const {
  return AllocatedBytes(this) + AllocatedBytes(records_.get());
}

std::vector<PendingEntry> PendingBlock::All() const {
  std::vector<PendingEntry> all;
  all.reserve(count_ + 1u);
  for (size_t i = 0; i < count_; ++i) all.push_back(At(i));
  return all;
}

// Chooses the least values and the widths again.
void PendingBlock::Rewrite(std::span<const PendingEntry> entries, size_t room) {
  assert(!entries.empty() && entries.size() <= room && room <= kMostEntries);
  least_ = ValuesOf(entries[0]);
  Values most = least_;
  for (const PendingEntry& entry : entries) {
    const Values values = ValuesOf(entry);
    for (size_t i = 0; i < kFields; ++i) {
      least_[i] = std::min(least_[i], values[i]);
      most[i] = std::max(most[i], values[i]);
    }
  }
  record_bytes_ = 0;
  for (size_t i = 0; i < kFields; ++i) {
    widths_[i] = static_cast<uint8_t>(PackedWidth(most[i] - least_[i]));
    record_bytes_ += widths_[i];
  }
  count_ = 0;
  consumers_ = 0;
  records_ = nullptr;
  Reserve(room);
  count_ = static_cast<uint8_t>(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) Store(i, ValuesOf(entries[i]));
}

}  // namespace zsetd
