// A hash table that grows and shrinks by one bucket at a time, so that no call ever stops to move
// all keys. Linear hashing: Litwin 1980, "Linear hashing: a new tool for file and table
// addressing".
//
// Keys are told apart by the low bits of their hash. When there are more keys than buckets, one
// bucket is added at the end, and one old bucket, always the next in turn, shares its keys with it
// by one more bit. Here six buckets have become of four: 0 and 1 are split, 2 and 3 not yet.
//
//     bucket       0     1     2    3    4     5
//     hash ends  ..000 ..001 ..10 ..11 ..100 ..101
//                  └─ by three bits ─┼────┴─────┘
//                                by two bits
//
// So the bucket of a hash is given by as many low bits as the largest bucket number has, or by one
// bit fewer if that bucket does not exist yet. Removal goes the same way back.
//
// Buckets stand in segments of a fixed size that a directory points to, so adding one moves none.
// (The directory itself is a vector: its doubling moves one pointer for every 512 keys.)
//
//     directory  ──►  [ segment | segment | segment ]
//                         └─► [ bucket | bucket | ... ]  each the head of a chain of nodes
//
// A scan reads the hashes as numbers written backwards, lowest bit first. In that order every
// bucket is an interval, a split only cuts an interval in two and a merge only joins two
// neighbours:
//
//     backwards     000..   001..   01..   100..   101..   11..
//     bucket        |  0  |   4   |  2   |   1   |   5   |  3   |
//     scanned so far ───────────────►cursor
//
// The cursor is a point on this line; all left of it has been visited, whatever happens to buckets
// between two calls.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/allocation.h"
#include "core/hash.h"
#include "core/rng.h"

namespace zsetd {

// A set of nodes, each found by its key. A Node has `std::string_view key() const`, which never
// changes, and a member `Node* next_`, null at first, for the chain it stands in. It may keep these
// private and name Dictionary<Node> a friend.
//
// Invariants: keys are unique; size() <= buckets <= size() + kSpareBuckets, unless empty. The
// dictionary owns its nodes and never moves them. Movable; what was moved from is empty.
template <class Node>
class Dictionary {
 public:
  explicit Dictionary(uint64_t hash_seed) : hash_(hash_seed) {}
  Dictionary(Dictionary&& other) noexcept : hash_(other.hash_) { Swap(other); }
  Dictionary& operator=(Dictionary&& other) noexcept;
  ~Dictionary() { Clear(); }

  size_t size() const { return size_; }

  // The node with that key, or null. O(1) expected, as are all calls that name no other cost.
  Node* Find(std::string_view key) { return FindInChain(key); }
  const Node* Find(std::string_view key) const { return FindInChain(key); }

  // Its key is not there yet.
  Node& Insert(std::unique_ptr<Node> node);

  // Takes a node of this dictionary out of it.
  std::unique_ptr<Node> Extract(Node& node);

  void Clear();  // O(n)

  // Calls visit(const Node&) for each. Nothing may change meanwhile. O(n).
  template <class Visit>
  void ForEach(Visit visit) const;

  // Calls visit(const Node&) for the nodes of the bucket at `cursor` and returns the cursor of the
  // next one, 0 at the end. A scan from 0 to 0 visits every node that was there throughout,
  // whatever is inserted or extracted between the calls; some may come twice.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const;

  // A node by chance, all equally likely but for chains longer than kUsualChain; null if empty.
  const Node* Random(Rng& rng) const;

  // The heap bytes of buckets and directory, nodes left out. O(1).
  size_t BytesUsed() const;

 private:
  static constexpr size_t kSegmentBuckets = 512;  // 4 KB

  // Lets keys come and go without a split and a merge for each.
  static constexpr size_t kSpareBuckets = 64;

  // A bucket that is not split yet holds two keys at most on average; then 1 chain in 4000 is
  // longer.
  static constexpr size_t kUsualChain = 8;

  using Segment = std::array<Node*, kSegmentBuckets>;

  void Swap(Dictionary& other) noexcept;
  void AddBucket();
  void RemoveBucket();

  Node* FindInChain(std::string_view key) const;
  static void Link(Node*& head, Node* node) { node->next_ = std::exchange(head, node); }

  // The low bits that tell some hash's bucket from all others, as a mask. There are buckets.
  uint64_t MaskOf(uint64_t hash) const;
  Node*& BucketOf(std::string_view key) const;
  Node*& Bucket(size_t number) const {
    return (*directory_[number / kSegmentBuckets])[number % kSegmentBuckets];
  }

  BytesHash hash_;
  std::vector<std::unique_ptr<Segment>> directory_;
  size_t bucket_count_ = 0;
  size_t size_ = 0;
};

template <class Node>
Dictionary<Node>& Dictionary<Node>::operator=(Dictionary&& other) noexcept {
  Dictionary taken(std::move(other));
  Swap(taken);
  return *this;
}

template <class Node>
void Dictionary<Node>::Swap(Dictionary& other) noexcept {
  std::swap(hash_, other.hash_);
  std::swap(directory_, other.directory_);
  std::swap(bucket_count_, other.bucket_count_);
  std::swap(size_, other.size_);
}

template <class Node>
uint64_t Dictionary<Node>::MaskOf(uint64_t hash) const {
  const uint64_t mask = std::bit_ceil(bucket_count_) - 1;
  const uint64_t top_bit = mask - (mask >> 1);
  return ((hash & mask) | top_bit) < bucket_count_ ? mask : mask >> 1;
}

template <class Node>
Node*& Dictionary<Node>::BucketOf(std::string_view key) const {
  const uint64_t hash = hash_(key);
  return Bucket(hash & MaskOf(hash));
}

template <class Node>
Node* Dictionary<Node>::FindInChain(std::string_view key) const {
  if (size_ == 0) return nullptr;
  Node* node = BucketOf(key);
  while (node != nullptr && node->key() != key) node = node->next_;
  return node;
}

template <class Node>
Node& Dictionary<Node>::Insert(std::unique_ptr<Node> node) {
  if (size_ == bucket_count_) AddBucket();
  ++size_;
  Link(BucketOf(node->key()), node.get());
  return *node.release();
}

template <class Node>
std::unique_ptr<Node> Dictionary<Node>::Extract(Node& node) {
  Node** link = &BucketOf(node.key());
  while (*link != &node) link = &(*link)->next_;
  *link = std::exchange(node.next_, nullptr);
  --size_;
  if (size_ + kSpareBuckets < bucket_count_) RemoveBucket();
  return std::unique_ptr<Node>(&node);
}

template <class Node>
void Dictionary<Node>::AddBucket() {
  const size_t added = bucket_count_;
  if (added == directory_.size() * kSegmentBuckets) {
    directory_.push_back(std::make_unique<Segment>());
  }
  ++bucket_count_;
  Node* rest = std::exchange(Bucket(added - std::bit_floor(added)), nullptr);
  while (rest != nullptr) {
    Node* node = std::exchange(rest, rest->next_);
    Link(BucketOf(node->key()), node);
  }
}

template <class Node>
void Dictionary<Node>::RemoveBucket() {
  const size_t removed = --bucket_count_;
  Node*& partner = Bucket(removed - std::bit_floor(removed));
  Node* rest = std::exchange(Bucket(removed), nullptr);
  while (rest != nullptr) {
    Node* node = std::exchange(rest, rest->next_);
    Link(partner, node);
  }
  if (removed % kSegmentBuckets == 0) directory_.pop_back();
}

template <class Node>
void Dictionary<Node>::Clear() {
  for (size_t number = 0; number < bucket_count_; ++number) {
    Node* rest = Bucket(number);
    while (rest != nullptr) delete std::exchange(rest, rest->next_);
  }
  directory_.clear();
  directory_.shrink_to_fit();
  bucket_count_ = 0;
  size_ = 0;
}

template <class Node>
template <class Visit>
void Dictionary<Node>::ForEach(Visit visit) const {
  for (size_t number = 0; number < bucket_count_; ++number) {
    for (const Node* node = Bucket(number); node != nullptr; node = node->next_) visit(*node);
  }
}

template <class Node>
template <class Visit>
uint64_t Dictionary<Node>::Scan(uint64_t cursor, Visit visit) const {
  if (bucket_count_ == 0) return 0;
  const uint64_t mask = MaskOf(cursor);
  const size_t number = cursor & mask;
  for (const Node* node = Bucket(number); node != nullptr; node = node->next_) visit(*node);

  // Adds one to the number written backwards: the leading ones become zeros, the first zero a one.
  const uint64_t first_zero = std::bit_floor(~number & mask);
  return first_zero == 0 ? 0 : (number & (first_zero - 1)) | first_zero;
}

template <class Node>
const Node* Dictionary<Node>::Random(Rng& rng) const {
  while (size_ > 0) {
    const Node* node = Bucket(rng.Below(bucket_count_));
    size_t length = 0;
    for (const Node* next = node; next != nullptr; next = next->next_) ++length;

    // A chain is taken as often as it is long, or else the keys of short ones would come too often.
    size_t drawn = rng.Below(std::max(length, kUsualChain));
    if (drawn >= length) continue;
    while (drawn-- > 0) node = node->next_;
    return node;
  }
  return nullptr;
}

template <class Node>
size_t Dictionary<Node>::BytesUsed() const {
  if (directory_.empty()) return AllocatedBytes(directory_.data());
  return AllocatedBytes(directory_.data()) +
         directory_.size() * AllocatedBytes(directory_.front().get());
}

}  // namespace zsetd
