#include "core/stream/consumer_group.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/util/allocation.h"
#include "core/util/allocation_size.h"

namespace zsetd {
namespace {

// A node of the map: three pointers and a color, then the value.
constexpr size_t kNodeBytes = AllocationSize(32 + sizeof(ConsumerGroup::Consumers::value_type));

}  // namespace

ConsumerGroup ConsumerGroup::Clone() const {
  ConsumerGroup copy(last_, entries_read_);
  copy.place_ = place_;
  copy.consumers_ = consumers_;
  copy.pending_ = pending_.Clone();
  copy.released_ = released_;
  copy.last_release_ = last_release_;
  copy.by_number_.resize(by_number_.size());
  for (auto& consumer : copy.consumers_) copy.by_number_[consumer.second.number] = &consumer;
  copy.free_numbers_ = free_numbers_;
  return copy;
}

const Consumer* ConsumerGroup::FindConsumer(std::string_view name) const {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : &found->second;
}

std::string_view ConsumerGroup::NameOf(const PendingEntry& entry) const {
  if (entry.is_released()) return {};
  assert(by_number_[entry.consumer] != nullptr);
  return by_number_[entry.consumer]->first;
}

std::pair<Consumer&, bool> ConsumerGroup::Seen(std::string_view name, Millis seen) {
  if (const auto found = consumers_.find(name); found != consumers_.end()) {
    found->second.seen = seen;
    return {found->second, false};
  }
  auto& consumer = *consumers_.emplace(name, Consumer{.seen = seen}).first;
  if (free_numbers_.empty()) {
    consumer.second.number = static_cast<uint32_t>(by_number_.size());
    by_number_.push_back(&consumer);
  } else {
    consumer.second.number = free_numbers_.back();
    free_numbers_.pop_back();
    by_number_[consumer.second.number] = &consumer;
  }
  return {consumer.second, true};
}

std::vector<std::vector<PendingEntry>> ConsumerGroup::FirstPending(size_t most) const {
  std::vector<std::vector<PendingEntry>> first(by_number_.size());
  size_t left = 0;
  for (const auto& [name, consumer] : consumers_) {
    const size_t wanted = std::min(consumer.pending, most);
    first[consumer.number].reserve(wanted);
    left += wanted;
  }
  for (PendingEntries::Cursor at(pending_, kFirstStreamId); left > 0; at.Next()) {
    const PendingEntry& entry = at.entry();
    if (entry.is_released() || first[entry.consumer].size() == most) continue;
    first[entry.consumer].push_back(entry);
    --left;
  }
  return first;
}

bool ConsumerGroup::AddConsumer(std::string_view name, Millis seen) {
  return FindConsumer(name) == nullptr && Seen(name, seen).second;
}

size_t ConsumerGroup::RemoveConsumer(std::string_view name) {
  const auto found = consumers_.find(name);
  if (found == consumers_.end()) return 0;
  const Consumer consumer = found->second;
  if (consumer.pending > 0) {
    std::vector<StreamId> ids;
    ids.reserve(consumer.pending);
    for (PendingEntries::Cursor at(pending_, kFirstStreamId, consumer.number, consumer.pending);
         at.valid(); at.Next()) {
      ids.push_back(at.entry().id);
    }
    assert(ids.size() == consumer.pending);
    for (const StreamId id : ids) pending_.Erase(id);
  }
  by_number_[consumer.number] = nullptr;
  free_numbers_.push_back(consumer.number);
  consumers_.erase(found);
  return consumer.pending;
}

void ConsumerGroup::SetPending(StreamId id, std::string_view name, Millis delivered,
                               uint64_t deliveries) {
  const auto consumer = consumers_.find(name);
  assert(consumer != consumers_.end());
  SetPending(id, consumer->second, delivered, deliveries);
}

void ConsumerGroup::SetPending(StreamId id, Consumer& consumer, Millis delivered,
                               uint64_t deliveries) {
  assert(&by_number_[consumer.number]->second == &consumer);
  ++consumer.pending;
  const auto old = pending_.Set({id, consumer.number, delivered, deliveries});
  if (old) Uncount(*old);
}

void ConsumerGroup::Release(StreamId id, uint64_t deliveries) {
  ++released_;
  const auto old =
      pending_.Set({id, PendingEntry::kNoConsumer, Millis(++last_release_), deliveries});
  if (old) Uncount(*old);
}

bool ConsumerGroup::Acknowledge(StreamId id) {
  const std::optional<PendingEntry> entry = pending_.Take(id);
  if (entry) Uncount(*entry);
  return entry.has_value();
}

void ConsumerGroup::Uncount(const PendingEntry& entry) {
  --(entry.is_released() ? released_ : by_number_[entry.consumer]->second.pending);
}

size_t ConsumerGroup::BytesUsed() const {
  size_t bytes = AllocatedBytes(by_number_.data()) + AllocatedBytes(free_numbers_.data());
  for (const auto& [name, consumer] : consumers_) bytes += kNodeBytes + AllocatedBytes(name);
  return bytes + pending_.BytesUsed();
}

}  // namespace zsetd
