#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "core/stream/stream_id.h"
#include "core/util/time.h"

namespace zsetd {

// The IDs with which producers mark the entries that they add to a stream, so that a repeated
// request adds nothing (IDMP of Redis 8.6). An ID is kept for some seconds after the time in the
// entry's ID, and a producer has a limited number of them.
//
// Memory is bounded by the requests of the last seconds: an addition forgets the expired IDs of its
// producer, and of two others in turn.
class Producers {
 public:
  struct Limits {
    uint64_t seconds = 100;  // for which an ID is kept; 1 to kMostSeconds
    uint64_t ids = 100;      // of a producer; 1 to kMostIds

    friend bool operator==(const Limits&, const Limits&) = default;
  };
  static constexpr uint64_t kMostSeconds = 86'400;
  static constexpr uint64_t kMostIds = 10'000;

  // The numbers of additions and of repeated requests, ever.
  struct Counts {
    uint64_t added = 0;
    uint64_t repeated = 0;
  };

  Producers() = default;
  Producers(const Producers& other);
  Producers& operator=(const Producers&) = delete;

  const Limits& limits() const { return limits_; }

  // Other limits than the present ones forget all IDs.
  void SetLimits(const Limits& limits);

  // The entry that the producer marked with this ID; nullopt if it marked none, or the ID expired.
  // O(log(producers)).
  std::optional<StreamId> Find(std::string_view producer, std::string_view id, Millis now) const;

  // Precondition: Find() does not find the ID. O(log(producers)), amortised.
  void Add(std::string_view producer, std::string_view id, StreamId entry, Millis now);

  const Counts& counts() const { return counts_; }
  void SetCounts(const Counts& counts) { counts_ = counts; }
  void CountRepeated() { ++counts_.repeated; }

  // These may include expired IDs.
  size_t producer_count() const { return producers_.size(); }
  size_t id_count() const { return ids_; }

  size_t BytesUsed() const;  // O(1)

  // Calls visit(producer, id, entry) for each ID; those of a producer follow each other, the oldest
  // first.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& [name, producer] : producers_) {
      for (const Mark& mark : producer.marks) visit(name, mark.id, mark.entry);
    }
  }

 private:
  struct Mark {
    std::string id;
    StreamId entry;
  };
  struct Producer {
    std::deque<Mark> marks;                                 // in the order of additions
    absl::flat_hash_map<std::string_view, StreamId> by_id;  // views of `marks`
  };
  using ByName = std::map<std::string, Producer, std::less<>>;

  bool IsExpired(StreamId entry, Millis now) const;
  void ForgetFirst(Producer& producer);
  void ForgetExpired(Producer& producer, Millis now);
  void Sweep(Millis now);

  Limits limits_;
  Counts counts_;
  ByName producers_;
  std::string swept_;  // the producer that was swept last
  size_t ids_ = 0;
  size_t id_bytes_ = 0;  // of the IDs and of the producers' names
};

}  // namespace zsetd
