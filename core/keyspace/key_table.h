#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "core/hashing/dictionary.h"
#include "core/hashing/key_slot.h"
#include "core/hashing/slot_dictionaries.h"
#include "core/keyspace/entry.h"
#include "core/util/rng.h"

namespace zsetd {

// How a keyspace arranges its entries: in one dictionary, or in one for each slot of a cluster.
enum class KeyArrangement : bool { kWhole, kBySlot };

// The entries of a keyspace by key. The functions are those of Dictionary, with the same guarantees
// in either arrangement. The dictionaries of slots are allocated when the first entry is inserted.
// A moved-from table is empty and keeps its arrangement.
class KeyTable {
 public:
  KeyTable(uint64_t hash_seed, KeyArrangement arrangement)
      : whole_(hash_seed), arrangement_(arrangement) {}
  KeyTable(KeyTable&&) noexcept = default;
  KeyTable& operator=(KeyTable&&) noexcept = default;

  size_t size() const { return slots_ == nullptr ? whole_.size() : slots_->size(); }

  // `slot` is the slot of the key if it is known: then it need not be computed.
  Entry* Find(std::string_view key, KnownSlot slot = {}) {
    if (slots_ == nullptr) [[likely]]
      return whole_.Find(key);
    return slots_->Find(key, slot);
  }
  const Entry* Find(std::string_view key) const { return const_cast<KeyTable*>(this)->Find(key); }

  void Prefetch(std::span<const std::string_view> keys) const {
    slots_ == nullptr ? whole_.Prefetch(keys) : slots_->Prefetch(keys);
  }

  Entry& Insert(std::unique_ptr<Entry> entry) {
    if (arrangement_ == KeyArrangement::kWhole) [[likely]]
      return whole_.Insert(std::move(entry));
    if (slots_ == nullptr) slots_ = std::make_unique<SlotDictionaries<Entry>>();
    return slots_->Insert(std::move(entry));
  }

  std::unique_ptr<Entry> Extract(Entry& entry) {
    return slots_ == nullptr ? whole_.Extract(entry) : slots_->Extract(entry);
  }

  std::unique_ptr<Entry> Replace(Entry& old, std::unique_ptr<Entry> fresh) {
    return slots_ == nullptr ? whole_.Replace(old, std::move(fresh))
                             : slots_->Replace(old, std::move(fresh));
  }

  // Dictionaries of slots are small and grow cheaply: they reserve nothing.
  void Reserve(size_t entries) {
    if (arrangement_ == KeyArrangement::kWhole) whole_.Reserve(entries);
  }
  void Trim() {
    if (arrangement_ == KeyArrangement::kWhole) whole_.Trim();
  }

  template <class Visit>
  void ForEach(Visit visit) const {
    slots_ == nullptr ? whole_.ForEach(visit) : slots_->ForEach(visit);
  }
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    slots_ == nullptr ? whole_.ForEachChain(visit) : slots_->ForEachChain(visit);
  }
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const {
    return slots_ == nullptr ? whole_.Scan(cursor, visit) : slots_->Scan(cursor, visit);
  }
  bool HasPassed(uint64_t cursor, std::string_view key) const {
    return slots_ == nullptr ? whole_.HasPassed(cursor, key) : slots_->HasPassed(cursor, key);
  }
  const Entry* Random(Rng& rng) const {
    return slots_ == nullptr ? whole_.Random(rng) : slots_->Random(rng);
  }
  template <class Visit>
  void Sample(Rng& rng, size_t enough, size_t most, Visit visit) const {
    slots_ == nullptr ? whole_.Sample(rng, enough, most, visit)
                      : slots_->Sample(rng, enough, most, visit);
  }

  size_t BytesUsed() const { return slots_ == nullptr ? whole_.BytesUsed() : slots_->BytesUsed(); }

  // The number of entries in a slot. Only if the entries are arranged by slot. O(1).
  size_t CountInSlot(size_t slot) const {
    return slots_ == nullptr ? 0 : slots_->slot(slot).size();
  }

  // Calls visit(const Entry&) for `most` entries of a slot, or for all if it has fewer. Only if the
  // entries are arranged by slot. O(visited entries) on average.
  template <class Visit>
  void VisitInSlot(size_t slot, size_t most, Visit visit) const {
    if (slots_ == nullptr) return;
    const auto visit_if_wanted = [&](const Entry& entry) {
      if (most == 0) return;
      --most;
      visit(entry);
    };
    uint64_t cursor = 0;
    do {
      cursor = slots_->slot(slot).Scan(cursor, visit_if_wanted);
    } while (cursor != 0 && most > 0);
  }

 private:
  Dictionary<Entry> whole_;
  KeyArrangement arrangement_;
  std::unique_ptr<SlotDictionaries<Entry>> slots_;  // null: all entries are in `whole_`
};

}  // namespace zsetd
