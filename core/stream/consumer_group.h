#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stream/pending_entries.h"
#include "core/stream/stream_id.h"
#include "core/util/time.h"

namespace zsetd {

// A consumer of a group.
struct Consumer {
  uint32_t number = 0;  // in the pending entries of the group
  Millis seen{0};       // the last time that it asked for entries
  Millis active{-1};    // the last time that new entries became pending for it, or it claimed some
  size_t pending = 0;   // its entries
};

// A group of a stream: its position, its consumers and the entries that they have not acknowledged.
// Costs are for n consumers and b blocks of pending entries; see PendingEntries.
//
// Invariants: each pending entry belongs to a consumer or is released; `pending` of the consumers
// and released() add up to the number of pending entries.
class ConsumerGroup {
 public:
  // By name, in the order of bytes. Consumers keep their addresses.
  using Consumers = std::map<std::string, Consumer, std::less<>>;

  static constexpr int64_t kUnknownCount = -1;

  ConsumerGroup() = default;
  ConsumerGroup(StreamId last, int64_t entries_read) : last_(last), entries_read_(entries_read) {}
  ConsumerGroup(ConsumerGroup&&) = default;

  ConsumerGroup Clone() const;  // O(bytes)

  // The ID of the last delivered entry, and the number of entries of the stream up to it.
  // `place` is that of the entry `last`, if it is known.
  StreamId last_id() const { return last_; }
  int64_t entries_read() const { return entries_read_; }
  const StreamPlace& place() const { return place_; }
  void SetPosition(StreamId last, int64_t entries_read, const StreamPlace& place = {}) {
    last_ = last;
    entries_read_ = entries_read;
    place_ = place;
  }

  const Consumers& consumers() const { return consumers_; }
  const PendingEntries& pending() const { return pending_; }

  const Consumer* FindConsumer(std::string_view name) const;  // O(log n)

  // The consumer's name; empty for a released entry. O(1).
  std::string_view NameOf(const PendingEntry& entry) const;

  // The first pending entries of each consumer, at most `most`, by the consumer's number.
  // O(n + pending entries), in one pass that ends when all are found.
  std::vector<std::vector<PendingEntry>> FirstPending(size_t most) const;

  // Sets the time at which the consumer last asked for entries, and creates the consumer if it does
  // not exist. Returns it, and whether it is new. O(log n).
  std::pair<Consumer&, bool> Seen(std::string_view name, Millis seen);

  // Creates the consumer if it does not exist. Returns whether it is new. O(log n).
  bool AddConsumer(std::string_view name, Millis seen);

  // Deletes the consumer and its pending entries, and returns their number. O(pending entries).
  size_t RemoveConsumer(std::string_view name);

  // Adds a pending entry, or replaces the one with its ID, which may belong to another consumer.
  // Precondition: the consumer exists. O(log b).
  void SetPending(StreamId id, std::string_view consumer, Millis delivered, uint64_t deliveries);
  void SetPending(StreamId id, Consumer& consumer, Millis delivered, uint64_t deliveries);

  // Adds a pending entry without a consumer, or takes it away from its consumer. The entry becomes
  // the last of the released ones, also if it was one of them. O(log b).
  void Release(StreamId id, uint64_t deliveries);
  size_t released() const { return released_; }

  // Removes the pending entry. Returns whether it existed. O(log b).
  bool Acknowledge(StreamId id);

  size_t BytesUsed() const;  // O(n + b)

 private:
  // The consumer, or the released entries, no longer have the entry.
  void Uncount(const PendingEntry& entry);

  StreamId last_;
  int64_t entries_read_ = kUnknownCount;
  StreamPlace place_;
  Consumers consumers_;
  std::vector<Consumers::value_type*> by_number_;  // null: the number is free
  std::vector<uint32_t> free_numbers_;
  PendingEntries pending_;
  size_t released_ = 0;
  int64_t last_release_ = 0;  // the number of the last release
};

}  // namespace zsetd
