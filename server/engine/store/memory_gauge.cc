#include "server/engine/store/memory_gauge.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

// The allocator writes the counts of other threads without a lock.
int64_t BytesOf(const ThreadCounts& counts) {
  const uint64_t taken = __atomic_load_n(counts.taken, __ATOMIC_RELAXED);
  return static_cast<int64_t>(taken - __atomic_load_n(counts.freed, __ATOMIC_RELAXED));
}

}  // namespace

MemoryGauge::MemoryGauge(std::function<size_t()> measure, const ThreadCounts& counts)
    : measure_(std::move(measure)) {
  if (counts.taken != nullptr) counts_.push_back(counts);
  Calibrate();
}

void MemoryGauge::AddThread(const ThreadCounts& counts) {
  if (!HasCounts()) return;
  assert(std::ranges::count(counts_, counts.taken, &ThreadCounts::taken) == 0);
  counts_.push_back(counts);
  beyond_counts_ -= BytesOf(counts);
}

void MemoryGauge::RemoveThread(const ThreadCounts& counts) {
  if (!HasCounts()) return;
  assert(std::ranges::count(counts_, counts.taken, &ThreadCounts::taken) == 1);
  beyond_counts_ += BytesOf(counts);
  std::erase_if(counts_, [&](const ThreadCounts& each) { return each.taken == counts.taken; });
}

int64_t MemoryGauge::Counted() const {
  int64_t bytes = -given_bytes_;
  for (const ThreadCounts& each : counts_) bytes += BytesOf(each);
  return bytes;
}

size_t MemoryGauge::Used() const {
  if (!HasCounts()) {
    const size_t used = measure_();
    return used - std::min<size_t>(used, handed_over_->bytes + uncounted_bytes_);
  }
  const int64_t used = Counted() + beyond_counts_ - static_cast<int64_t>(uncounted_bytes_);
  return static_cast<size_t>(std::max<int64_t>(used, 0));
}

size_t MemoryGauge::BytesBeingSent() const {
  size_t bytes = 0;
  for (const auto* sender : senders_) bytes += sender->load(std::memory_order_relaxed);
  return bytes;
}

void MemoryGauge::Calibrate() {
  if (!HasCounts() || handed_over_->objects > 0) return;
  beyond_counts_ = static_cast<int64_t>(measure_()) - Counted();
}

void MemoryGauge::FreeInBackground(std::shared_ptr<void> garbage, size_t bytes, size_t objects,
                                   const FreeFunction& free_in_background) {
  assert(garbage != nullptr && free_in_background != nullptr);
  // Undoes its own counting when the other thread lets go of it.
  struct CountedGarbage {
    std::shared_ptr<void> content;
    std::shared_ptr<HandedOver> counts;
    size_t bytes;
    size_t objects;
    ~CountedGarbage() {
      content.reset();
      assert(counts->bytes >= bytes && counts->objects >= objects);
      counts->bytes -= bytes;
      counts->objects -= objects;
    }
  };
  given_bytes_ += static_cast<int64_t>(bytes);
  handed_over_->bytes += bytes;
  handed_over_->objects += objects;
  given_objects_ += objects;
  free_in_background(std::shared_ptr<CountedGarbage>(
      new CountedGarbage{std::move(garbage), handed_over_, bytes, objects}));
}

}  // namespace zsetd
