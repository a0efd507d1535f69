#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/hashing/bytes_hash.h"

namespace zsetd {

// Detects names that were added twice. Keeps only the hashes of the names, 8 bytes each.
//
// Two different names may share a hash. Among 100 million names the probability of that is 1 in
// 4,000. A second run with another seed shows whether a name really occurs twice.
class NameHashes {
 public:
  // A sort stops when `abandoned` becomes true. `abandoned` outlives this, or is null.
  explicit NameHashes(uint64_t seed, const std::atomic<bool>* abandoned = nullptr)
      : hash_(seed), abandoned_(abandoned) {}

  // O(length), amortized.
  void Add(std::string_view name) {
    const uint64_t hash = hash_(name);
    is_sorted_ = false;
    ++size_;
    if (!parts_.empty()) return parts_[hash >> kShift].push_back(hash);
    few_.push_back(hash);
    if (few_.size() == kMostFew) Divide();
  }

  size_t size() const { return size_; }

  // Returns whether two of the names have the same hash. O(n log n).
  bool HasDuplicate() {
    Sort();
    const auto has_duplicate = [](const std::vector<uint64_t>& sorted) {
      return std::ranges::adjacent_find(sorted) != sorted.end();
    };
    return parts_.empty() ? has_duplicate(few_) : std::ranges::any_of(parts_, has_duplicate);
  }

  // Returns whether the name was added. O(log n), after HasDuplicate().
  bool Contains(std::string_view name) const {
    const uint64_t hash = hash_(name);
    return std::ranges::binary_search(parts_.empty() ? few_ : parts_[hash >> kShift], hash);
  }

  void Clear() {
    size_ = 0;
    few_.clear();
    parts_ = {};
  }

 private:
  // Many names are divided by the first byte of their hash. A part is sorted in a short time, and
  // only one part at a time needs space to grow.
  static constexpr size_t kMostFew = 8192;
  static constexpr size_t kParts = 256;
  static constexpr int kShift = 56;

  void Divide() {
    parts_.resize(kParts);
    for (const uint64_t hash : few_) parts_[hash >> kShift].push_back(hash);
    few_.clear();
  }

  void Sort() {
    if (is_sorted_) return;
    is_sorted_ = true;
    std::ranges::sort(few_);
    for (std::vector<uint64_t>& part : parts_) {
      if (abandoned_ != nullptr && *abandoned_) return;
      std::ranges::sort(part);
    }
  }

  const BytesHash hash_;
  const std::atomic<bool>* const abandoned_;
  size_t size_ = 0;
  bool is_sorted_ = true;
  std::vector<uint64_t> few_;                 // while there are few
  std::vector<std::vector<uint64_t>> parts_;  // when there are many, by the first byte
};

}  // namespace zsetd
