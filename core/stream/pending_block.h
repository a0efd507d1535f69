#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/stream/stream_id.h"
#include "core/util/time.h"

namespace zsetd {

// An entry that a group has delivered to a consumer, which has not acknowledged it yet, or which
// has released it (XNACK).
struct PendingEntry {
  static constexpr uint32_t kNoConsumer = UINT32_MAX;

  StreamId id;
  uint32_t consumer = 0;  // number in the group, or kNoConsumer: released
  Millis delivered{0};    // when it was delivered; of a released entry the number of the release
  uint64_t deliveries = 0;

  bool is_released() const { return consumer == kNoConsumer; }

  // The time that is reported. It is 0 for a released entry, as in Redis.
  Millis delivery_time() const { return is_released() ? Millis(0) : delivered; }

  // Whether a claim of entries that were delivered by that time takes it.
  bool IsIdleSince(Millis time) const { return is_released() || delivered <= time; }

  friend bool operator==(const PendingEntry&, const PendingEntry&) = default;
};

// Up to kMostEntries pending entries in ascending order of IDs, as records of equal size:
//
//   record   [ ms | seq | consumer | delivered | deliveries ]
//
// Each field is the difference to the block's least value of that field, in as many bytes as the
// largest difference needs. Fields with one value for all entries take no bytes. A record of a busy
// group takes 5 to 8 bytes. A new value that does not fit rewrites the block, in O(kMostEntries).
class PendingBlock {
 public:
  static constexpr size_t kMostEntries = 128;

  PendingBlock() = default;
  PendingBlock(const PendingBlock& block);
  PendingBlock& operator=(const PendingBlock&) = delete;

  size_t count() const { return count_; }
  PendingEntry At(size_t index) const;
  StreamId IdAt(size_t index) const;
  StreamId first() const { return IdAt(0); }
  StreamId last() const { return IdAt(count_ - 1); }

  // The index of the first entry with at least this ID, or count(). O(log count).
  size_t LowerBound(StreamId id) const;

  // Whether an entry may belong to the consumer; false is certain. O(1).
  bool MayHave(uint32_t consumer) const { return consumers_ >> consumer % 64 & 1; }

  // Whether no entry is idle since that time; false is uncertain. O(1).
  bool HasNoneIdleSince(Millis time) const {
    return EarliestDelivery() > time && !MayHave(PendingEntry::kNoConsumer);
  }

  // No entry was delivered before. O(1).
  Millis EarliestDelivery() const { return Millis(static_cast<int64_t>(least_[kDelivered])); }

  // Inserts before the entry at `index`. Precondition: count() < kMostEntries. O(count).
  void Insert(size_t index, const PendingEntry& entry);
  void Replace(size_t index, const PendingEntry& entry);
  void Erase(size_t index);

  // Appends the entries of `next`, which fit. Moves the second half to the result. O(count).
  void Append(const PendingBlock& next);
  std::unique_ptr<PendingBlock> SplitOffHalf();

  // Reallocates the records without room.
  void Shrink();

  size_t BytesUsed() const;

 private:
  static constexpr size_t kFields = 5;
  static constexpr size_t kDelivered = 3;  // index of that field
  using Values = std::array<uint64_t, kFields>;

  static Values ValuesOf(const PendingEntry& entry);
  static PendingEntry EntryOf(const Values& values);

  char* RecordAt(size_t index) const { return records_.get() + kMargin + index * record_bytes_; }
  bool Fits(const Values& values) const;
  void Store(size_t index, const Values& values);
  void Reserve(size_t records);
  std::vector<PendingEntry> All() const;
  void Rewrite(std::span<const PendingEntry> entries, size_t room);

  // In front of the records; core/util/packed_integer.h reads there.
  static constexpr size_t kMargin = 8;

  std::unique_ptr<char[]> records_;
  Values least_ = {};
  uint64_t consumers_ = 0;  // bit n: a consumer whose number modulo 64 is n may have an entry
  std::array<uint8_t, kFields> widths_ = {};  // bytes
  uint8_t record_bytes_ = 0;
  uint8_t count_ = 0;
  uint8_t room_ = 0;  // records
};

}  // namespace zsetd
