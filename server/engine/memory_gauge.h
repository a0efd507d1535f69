#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "server/engine/support/allocator_stats.h"

namespace zsetd {

// How many bytes the process has in use, at the cost of a few loads, so that it can be asked before
// each command.
//
// jemalloc counts what each thread has taken and freed; the gauge reads the counts of the thread
// that made it and, now and then, sets what they cannot know right by what the allocator as a whole
// says. What others are to free counts as free as soon as it is handed over: it is on its way, and
// nothing more has to go for it.
class MemoryGauge {
 public:
  // Frees what it is given on another thread. Null: nothing is handed over.
  using Discarder = std::function<void(std::shared_ptr<void>)>;

  // `measure` tells the bytes that the allocator has handed out, all threads taken together;
  // `counts` are those of the thread that asks, if there are any.
  MemoryGauge(std::function<size_t()> measure, const ThreadCounts& counts);

  // Where there are no counts it is measured: some microseconds.
  size_t Used() const;

  // Compares the counts with the allocator's, unless something is being freed. Some microseconds.
  void Calibrate();

  // Hands over what takes about so many bytes.
  void HandOver(std::shared_ptr<void> garbage, size_t bytes, const Discarder& discard);

  size_t pending_objects() const { return handed_over_->objects; }  // handed over and not yet freed
  size_t freed_objects() const { return given_objects_ - pending_objects(); }

 private:
  // What others have not freed yet; they count it down.
  struct HandedOver {
    std::atomic<size_t> objects = 0;
    std::atomic<size_t> bytes = 0;
  };

  int64_t Counted() const;

  std::function<size_t()> measure_;
  ThreadCounts counts_;
  int64_t beyond_counts_ = 0;  // what the allocator knew of more than the counts
  int64_t given_bytes_ = 0;    // handed over, ever
  size_t given_objects_ = 0;
  std::shared_ptr<HandedOver> handed_over_ = std::make_shared<HandedOver>();
};

}  // namespace zsetd
