#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/hashing/dictionary.h"
#include "core/hashing/key_slot.h"
#include "core/hashing/keyed_hash.h"
#include "core/util/cache_line.h"
#include "core/util/count_tree.h"
#include "core/util/rng.h"

namespace zsetd {

// A dictionary for each slot of a cluster, so that the keys of a slot can be listed, counted and
// moved without the other keys. The functions are those of Dictionary, with the same guarantees.
// Those that change the number of nodes, or choose a node at random, take O(log slots) longer.
//
// A cursor of a scan consists of a slot (its low 14 bits, as in Redis) and the cursor within the
// slot's dictionary. Slots are visited in ascending order.
//
// An empty object takes 1.3 MB. The nodes are hashed with KeyedHash().
template <class Node>
class SlotDictionaries {
 public:
  SlotDictionaries() = default;
  SlotDictionaries(const SlotDictionaries&) = delete;

  size_t size() const { return counts_.total(); }

  // `slot` is the slot of the key if it is known.
  Node* Find(std::string_view key, KnownSlot slot = {}) { return Of(key, slot).Find(key); }

  void Prefetch(std::span<const std::string_view> keys) const;

  Node& Insert(std::unique_ptr<Node> node);
  std::unique_ptr<Node> Extract(Node& node);
  std::unique_ptr<Node> Replace(Node& old, std::unique_ptr<Node> fresh) {
    return Of(old.key()).Replace(old, std::move(fresh));
  }

  template <class Visit>
  void ForEach(Visit visit) const;
  template <class Visit>
  void ForEachChain(Visit&& visit) const;
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const;
  bool HasPassed(uint64_t cursor, std::string_view key) const;
  const Node* Random(Rng& rng) const;
  template <class Visit>
  void Sample(Rng& rng, size_t enough, size_t most, Visit visit) const;

  // The nodes of one slot.
  using Slot = Dictionary<Node, KeyedHasher>;
  const Slot& slot(size_t number) const { return slots_[number]; }

  // The heap bytes of the buckets, and of this object. O(1).
  size_t BytesUsed() const { return sizeof(*this) + bucket_bytes_; }

  // Asserts the invariants; for tests. O(n).
  void Check() const;

 private:
  static constexpr int kSlotBits = 14;
  static_assert(size_t{1} << kSlotBits == kSlotCount);

  Slot& Of(std::string_view key, KnownSlot slot = {}) {
    assert(!slot || *slot == KeySlot(key));
    return slots_[slot ? *slot : KeySlot(key)];
  }
  const Slot& Of(std::string_view key) const { return slots_[KeySlot(key)]; }

  // The first slot after `number` that has nodes, or kSlotCount if no such slot exists.
  size_t SlotAfter(size_t number) const { return counts_.PositionOf(counts_.Before(number + 1)); }
  size_t FirstSlot() const { return counts_.PositionOf(0); }

  std::array<Slot, kSlotCount> slots_;
  CountTree<kSlotCount> counts_;
  size_t bucket_bytes_ = 0;
};

// Like Dictionary::Prefetch(), with a step more: the dictionary of a slot is seldom in the cache.
template <class Node>
void SlotDictionaries<Node>::Prefetch(std::span<const std::string_view> keys) const {
  constexpr size_t kAtOnce = 16;
  std::array<const Slot*, kAtOnce> slots;
  std::array<Node* const*, kAtOnce> buckets;
  for (; size() > 0 && !keys.empty(); keys = keys.subspan(std::min(keys.size(), kAtOnce))) {
    const auto some = keys.first(std::min(keys.size(), kAtOnce));
    for (size_t i = 0; i < some.size(); ++i) {
      slots[i] = &Of(some[i]);
      PrefetchLine(slots[i]);
      PrefetchLine(slots[i] + 1);  // most dictionaries cross a cache line
    }
    for (size_t i = 0; i < some.size(); ++i) buckets[i] = slots[i]->PrefetchBucket(some[i]);
    for (size_t i = 0; i < some.size(); ++i) {
      if (buckets[i] != nullptr) Slot::PrefetchChain(buckets[i]);
    }
    for (size_t i = 0; i < some.size(); ++i) {
      if (buckets[i] != nullptr) Slot::PrefetchSecond(buckets[i]);
    }
  }
}

template <class Node>
Node& SlotDictionaries<Node>::Insert(std::unique_ptr<Node> node) {
  const uint16_t number = KeySlot(node->key());
  Slot& slot = slots_[number];
  const size_t before = slot.BytesUsed();
  Node& inserted = slot.Insert(std::move(node));
  bucket_bytes_ += slot.BytesUsed() - before;
  counts_.Add(number, 1);
  return inserted;
}

template <class Node>
std::unique_ptr<Node> SlotDictionaries<Node>::Extract(Node& node) {
  const uint16_t number = KeySlot(node.key());
  Slot& slot = slots_[number];
  const size_t before = slot.BytesUsed();
  std::unique_ptr<Node> extracted = slot.Extract(node);
  if (slot.size() == 0) slot.Clear();
  bucket_bytes_ -= before - slot.BytesUsed();
  counts_.Add(number, -1);
  return extracted;
}

template <class Node>
template <class Visit>
void SlotDictionaries<Node>::ForEach(Visit visit) const {
  for (const Slot& slot : slots_) slot.ForEach(visit);
}

template <class Node>
template <class Visit>
void SlotDictionaries<Node>::ForEachChain(Visit&& visit) const {
  for (const Slot& slot : slots_) slot.ForEachChain(visit);
}

template <class Node>
template <class Visit>
uint64_t SlotDictionaries<Node>::Scan(uint64_t cursor, Visit visit) const {
  const size_t number = cursor % kSlotCount;
  const uint64_t next = slots_[number].Scan(cursor >> kSlotBits, visit);
  if (next != 0) return next << kSlotBits | number;
  const size_t after = SlotAfter(number);
  return after == kSlotCount ? 0 : after;
}

template <class Node>
bool SlotDictionaries<Node>::HasPassed(uint64_t cursor, std::string_view key) const {
  assert(cursor != 0);
  const size_t number = KeySlot(key);
  if (number != cursor % kSlotCount) return number < cursor % kSlotCount;
  const uint64_t within = cursor >> kSlotBits;
  return within != 0 && slots_[number].HasPassed(within, key);
}

template <class Node>
const Node* SlotDictionaries<Node>::Random(Rng& rng) const {
  if (size() == 0) return nullptr;
  return slots_[counts_.PositionOf(rng.Below(size()))].Random(rng);
}

template <class Node>
template <class Visit>
void SlotDictionaries<Node>::Sample(Rng& rng, size_t enough, size_t most, Visit visit) const {
  if (size() == 0) return;
  const size_t start = counts_.PositionOf(rng.Below(size()));
  size_t number = start;
  do {
    slots_[number].Sample(rng, enough, most, [&](const Node& node) {
      const bool counts = visit(node);
      enough -= counts;
      --most;
      return counts;
    });
    number = SlotAfter(number);
    if (number == kSlotCount) number = FirstSlot();
  } while (enough > 0 && most > 0 && number != start);
}

template <class Node>
void SlotDictionaries<Node>::Check() const {
  [[maybe_unused]] size_t bytes = 0;
  for (size_t number = 0; number < kSlotCount; ++number) {
    const Slot& slot = slots_[number];
    slot.Check();
    assert(counts_.Before(number + 1) - counts_.Before(number) == slot.size());
    slot.ForEach([&]([[maybe_unused]] const Node& node) { assert(KeySlot(node.key()) == number); });
    bytes += slot.BytesUsed();
  }
  assert(bytes == bucket_bytes_);
}

}  // namespace zsetd
