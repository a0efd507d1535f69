#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "server/engine/support/allocator_stats.h"

namespace zsetd {

// The number of bytes in use, at the cost of a few loads, so that it can be read before each
// command.
//
// jemalloc counts what each thread allocates and frees; the gauge reads the counts of the threads
// that run requests and, periodically, corrects them by the statistics of the whole allocator.
// Other threads may be allocating while their counts are read, so a reading is late by some
// requests. Memory that is passed to another thread to be freed counts as free immediately, so it
// causes no further eviction.
class MemoryGauge {
 public:
  // Frees its argument on another thread. Null: nothing is passed on.
  using FreeFunction = std::function<void(std::shared_ptr<void>)>;

  // `measure` returns the allocated bytes of all threads; `counts` are those of the calling thread,
  // if available.
  MemoryGauge(std::function<size_t()> measure, const ThreadCounts& counts);

  // Another thread runs requests from now on; and it will not any more, but its counts are still
  // valid. Without effect if the counts are not available.
  void AddThread(const ThreadCounts& counts);
  void RemoveThread(const ThreadCounts& counts);

  // Without counts it is measured, which takes some microseconds.
  size_t Used() const;

  // Another thread sends replies while requests run, and counts there the bytes that it has not
  // sent. It frees them soon. `bytes` outlives the gauge, or is removed.
  void AddSender(const std::atomic<size_t>& bytes) { senders_.push_back(&bytes); }
  void RemoveSender(const std::atomic<size_t>& bytes) { std::erase(senders_, &bytes); }

  // The bytes that all senders have not sent.
  size_t BytesBeingSent() const;

  // The number of allocated bytes that do not count as used. The interpreters of scripts add their
  // memory: it has a limit of its own, and their garbage must not evict keys.
  size_t& uncounted_bytes() { return uncounted_bytes_; }
  size_t uncounted_bytes() const { return uncounted_bytes_; }

  // Compares the counts with the allocator's, unless something is being freed. Some microseconds.
  void Calibrate();

  // Passes an object of about `bytes` to the other thread. It counts as `objects`; a key's value is
  // one.
  void FreeInBackground(std::shared_ptr<void> garbage, size_t bytes, size_t objects,
                        const FreeFunction& free_in_background);

  size_t pending_objects() const { return handed_over_->objects; }  // handed over and not yet freed
  size_t freed_objects() const { return given_objects_ - pending_objects(); }  // since the reset
  void ResetFreedObjects() { given_objects_ = pending_objects(); }

 private:
  // Bytes that other threads have not freed yet; they decrement it.
  struct HandedOver {
    std::atomic<size_t> objects = 0;
    std::atomic<size_t> bytes = 0;
  };

  bool HasCounts() const { return !counts_.empty(); }
  int64_t Counted() const;

  std::function<size_t()> measure_;
  std::vector<ThreadCounts> counts_;  // of each thread; empty if they are not available
  std::vector<const std::atomic<size_t>*> senders_;
  int64_t beyond_counts_ = 0;  // what the allocator reported beyond the counts
  int64_t given_bytes_ = 0;    // passed on, ever
  size_t uncounted_bytes_ = 0;
  size_t given_objects_ = 0;
  std::shared_ptr<HandedOver> handed_over_ = std::make_shared<HandedOver>();
};

}  // namespace zsetd
