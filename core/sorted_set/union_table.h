#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/score_fold.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/byte_arena.h"
#include "core/util/short_compare.h"

namespace zsetd {

// The members of a union with their scores, during its computation.
//
//   waiting   [ score, member | ... ]             up to 32, to be looked up together
//   slots     [ hash, record | - | hash, record | hash, record | - ]
//   records     score, size, member's bytes       one after another
//
// In a table too large for the cache, each lookup waits for memory twice: for the slot and for the
// record. So elements are collected and looked up together.
class UnionTable {
 public:
  // Prepares a table for about `expected` members.
  explicit UnionTable(size_t expected);

  // Starts an input, whose members are added next. The fold must be valid until the next input
  // starts or the table is destroyed. Must be called before the first member is added.
  void BeginInput(const ScoreFold& fold);

  // Folds the input's score into the member's. The member's bytes are copied. O(1), amortised.
  void Add(std::string_view member, double score) {
    Add(member.size(), score, [member](char* to) { member.copy(to, member.size()); });
  }

  // Like Add() above, for a member of `size` bytes that `write(char* to)` writes. `write` may write
  // SortedSet::Cursor::kTooMany more bytes.
  template <class Write>
  void Add(size_t size, double score, Write write) {
    write(Await(size, score));
  }

  // Returns the set of all members. May be called once. O(n log n).
  SortedSet Build();

  // Calls visit(std::string_view member, double score) for all members, in any order.
  template <class Visit>
  void ForEach(Visit visit) {
    SettleWaiting();
    for (Record* record : records_) visit(record->member(), record->score);
  }

 private:
  struct Record {
    double score;
    size_t size;

    char* bytes() { return reinterpret_cast<char*>(this + 1); }
    std::string_view member() { return {bytes(), size}; }
    bool Is(std::string_view other) { return size == other.size() && SameBytes(bytes(), other); }
  };
  struct Slot {
    uint64_t hash = 0;
    Record* record = nullptr;
  };
  struct Waiting {
    uint64_t hash;
    double score;
    size_t start, size;  // in waiting_text_

    std::string_view MemberIn(const std::string& text) const {
      return std::string_view(text).substr(start, size);
    }
  };

  static constexpr size_t kBatch = 32;
  static constexpr size_t kBatchBytes = 4096;  // the limit, except for a single larger member

  char* Await(size_t size, double score);
  Slot& FirstSlotOf(uint64_t hash) { return slots_[hash & (slots_.size() - 1)]; }
  Slot* SlotAfter(const Slot* slot) { return &FirstSlotOf(slot - slots_.data() + 1); }
  void HashWaiting();
  void SettleWaiting();
  void Settle(const Waiting& element);
  Record* NewRecord(std::string_view member, double score);
  void GrowSlots();

  const ScoreFold* fold_ = nullptr;  // of the waiting members
  std::vector<Slot> slots_;          // a power of two; at most half of them are used
  std::vector<Record*> records_;
  ByteArena arena_;
  std::array<Waiting, kBatch> waiting_;
  size_t waiting_count_ = 0;
  size_t waiting_bytes_ = 0;
  std::string waiting_text_;  // their bytes, and room for kTooMany more
};

}  // namespace zsetd
