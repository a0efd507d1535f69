#include "core/stream/producers.h"

#include <cassert>

#include "core/util/allocation_size.h"

namespace zsetd {

Producers::Producers(const Producers& other)
    : limits_(other.limits_), counts_(other.counts_), swept_(other.swept_) {
  for (const auto& [name, producer] : other.producers_) {
    for (const Mark& mark : producer.marks) Add(name, mark.id, mark.entry, Millis(0));
  }
  counts_ = other.counts_;
}

void Producers::SetLimits(const Limits& limits) {
  assert(limits.seconds >= 1 && limits.seconds <= kMostSeconds);
  assert(limits.ids >= 1 && limits.ids <= kMostIds);
  if (limits == limits_) return;
  limits_ = limits;
  producers_.clear();
  ids_ = 0;
  id_bytes_ = 0;
}

// Times after the year 292 million are never expired.
bool Producers::IsExpired(StreamId entry, Millis now) const {
  const uint64_t kept = limits_.seconds * 1000;
  const auto time = static_cast<uint64_t>(now.count());
  return time > kept && entry.ms < time - kept;
}

std::optional<StreamId> Producers::Find(std::string_view producer, std::string_view id,
                                        Millis now) const {
  const auto known = producers_.find(producer);
  if (known == producers_.end()) return std::nullopt;
  const auto entry = known->second.by_id.find(id);
  if (entry == known->second.by_id.end() || IsExpired(entry->second, now)) return std::nullopt;
  return entry->second;
}

void Producers::Add(std::string_view name, std::string_view id, StreamId entry, Millis now) {
  const auto [known, is_new] = producers_.try_emplace(std::string(name));
  if (is_new) id_bytes_ += name.size();
  Producer& producer = known->second;
  ForgetExpired(producer, now);
  if (producer.marks.size() == limits_.ids) ForgetFirst(producer);
  producer.marks.push_back({std::string(id), entry});
  producer.by_id.erase(id);  // an expired one; XSETID can break the order of times
  producer.by_id.emplace(producer.marks.back().id, entry);
  ++ids_;
  id_bytes_ += id.size();
  ++counts_.added;
  Sweep(now);
}

void Producers::ForgetFirst(Producer& producer) {
  const Mark& first = producer.marks.front();
  id_bytes_ -= first.id.size();
  --ids_;
  const auto known = producer.by_id.find(first.id);
  if (known != producer.by_id.end() && known->first.data() == first.id.data()) {
    producer.by_id.erase(known);
  }
  producer.marks.pop_front();
}

void Producers::ForgetExpired(Producer& producer, Millis now) {
  while (!producer.marks.empty() && IsExpired(producer.marks.front().entry, now)) {
    ForgetFirst(producer);
  }
}

// Forgets the expired IDs of the next producers, and producers without IDs.
void Producers::Sweep(Millis now) {
  constexpr int kProducers = 2;
  for (int i = 0; i < kProducers; ++i) {
    auto next = producers_.upper_bound(swept_);
    if (next == producers_.end()) next = producers_.begin();
    swept_ = next->first;
    ForgetExpired(next->second, now);
    if (!next->second.marks.empty()) continue;
    id_bytes_ -= next->first.size();
    producers_.erase(next);
    if (producers_.empty()) return;
  }
}

// The nodes of the map and the tables are estimated.
size_t Producers::BytesUsed() const {
  constexpr size_t kDequeBytes = 64 + 512;  // of an empty one
  constexpr size_t kProducerBytes = AllocationSize(32 + sizeof(ByName::value_type)) + kDequeBytes;
  constexpr size_t kMarkBytes = sizeof(Mark) + 2 * sizeof(std::pair<std::string_view, StreamId>);
  return AllocationSize(sizeof(*this)) + producers_.size() * kProducerBytes + ids_ * kMarkBytes +
         id_bytes_;
}

}  // namespace zsetd
