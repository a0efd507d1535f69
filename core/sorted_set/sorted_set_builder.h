#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/byte_arena.h"
#include "core/util/time.h"

namespace zsetd {

class BlockRun;

// Builds a sorted set from all of its elements, which may arrive in any order: from a snapshot, a
// part of another set, a union.
//
//   elements   packed on arrival while they arrive in ascending or in descending order; else
//              collected, and sorted at the end
//   blocks     packed full, one after another
//   levels     built from the bottom up
//   index      built bucket by bucket, from (hash, block) pairs sorted by bucket
//
// No block or bucket is split, and no member is looked up: each step accesses memory in order.
// Elements that arrive in order take at most 48 bytes each in addition to the set, for the index.
//
// The input may contain a member twice. Its two entries are then in one bucket of the index with
// the same tag, so this is detected without extra cost.
class SortedSetBuilder {
 public:
  // The scores of a set with a form carry codes (SortedSet). Copies the form.
  explicit SortedSetBuilder(const ScoreForm& form = ScoreForm());
  ~SortedSetBuilder();
  SortedSetBuilder(const SortedSetBuilder&) = delete;
  SortedSetBuilder& operator=(const SortedSetBuilder&) = delete;

  // Copies the member's bytes. Without a form, the score is not NaN. O(1), amortised.
  void Add(std::string_view member, double score);

  // Like Add() above, with an optional deadline.
  void Add(std::string_view member, double score, std::optional<Millis> deadline);

  // Gives an added member a payload, when the set is built.
  void SetPayload(std::string_view member, std::string_view payload) {
    payloads_.emplace_back(member, payload);
  }

  // Like Add(), but only views the bytes, which must stay valid until the set is built.
  void AddView(std::string_view member, double score);

  size_t size() const { return size_; }

  // Returns the set of all elements, or nullopt if a member was added twice, or too many forms are
  // in use. May be called once.
  // O(n) for elements in ascending or descending order, else O(n log n).
  std::optional<SortedSet> Build();

 private:
  // The order of the elements so far. The second element decides it.
  enum class Order { kEither, kAscending, kDescending, kNone };

  double Stored(double score) const;
  bool IsBefore(const Element& a, const Element& b) const;
  void Prepare(const Element& next);
  void PackFirst();
  void TakeOutAgain();
  bool Sort();
  std::optional<SortedSet> BuildWithoutDeadlines();

  const ScoreForm form_;
  const bool compares_codes_;
  Order order_ = Order::kEither;
  size_t size_ = 0;
  size_t longest_ = 0;                // of the members
  std::unique_ptr<BlockRun> packed_;  // the first elements; null: none
  std::vector<Element> elements_;     // the others: while in order, at most a few more than a block
  ByteArena arena_;                   // the members of `elements_`
  ByteArena spare_;
  std::vector<std::pair<std::string, Millis>> deadlines_;  // by member
  std::vector<std::pair<std::string, std::string>> payloads_;
};

}  // namespace zsetd
