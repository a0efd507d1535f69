// A hash table that grows and shrinks by one bucket at a time, so that no call has to move all
// keys. linear_hashing.h explains how buckets are chosen.
//
//     buckets     [ * | null | * | ... ]             segmented_array.h
//                   |
//     chain         node -> node -> null             each node holds the link to the next
//
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/hashing/bytes_hash.h"
#include "core/hashing/linear_hashing.h"
#include "core/util/cache_line.h"
#include "core/util/rng.h"
#include "core/util/segmented_array.h"

namespace zsetd {

// A set of nodes, each found by its key. A Node has `std::string_view key() const`, which never
// changes, and for its chain `Node* next() const`, initially null, and `void set_next(Node*)`. It
// may keep these private and name Dictionary<Node> a friend. Hash is a function of a key's bytes;
// one without a state takes no space here.
//
// Invariants: keys are unique; size() <= buckets <= size() + kSpareBuckets, unless empty, or more
// were reserved. The dictionary owns its nodes and never moves them. Movable; a moved-from
// dictionary is empty.
template <class Node, class Hash = BytesHash>
class Dictionary {
 public:
  explicit Dictionary(uint64_t hash_seed) : hash_(hash_seed) {}
  Dictionary() requires(std::is_empty_v<Hash>) = default;
  Dictionary(Dictionary&& other) noexcept : hash_(other.hash_) { Swap(other); }
  Dictionary& operator=(Dictionary&& other) noexcept;
  ~Dictionary() { Clear(); }

  size_t size() const { return size_; }

  // The node with that key, or null. O(1) expected, like all calls without a stated cost.
  Node* Find(std::string_view key) { return FindInChain(key); }
  const Node* Find(std::string_view key) const { return FindInChain(key); }

  // Fetches the memory that Find() will read for these keys into the cache. In a table larger than
  // the cache, a lookup waits for memory twice; here these waits overlap.
  void Prefetch(std::span<const std::string_view> keys) const;

  // The steps of Prefetch(), for a caller with several dictionaries. PrefetchBucket() fetches the
  // bucket of a key and returns its address, or null if the dictionary is empty. PrefetchChain()
  // reads that bucket and fetches its first node. PrefetchSecond() reads the first node and fetches
  // the next one.
  Node* const* PrefetchBucket(std::string_view key) const;
  static void PrefetchChain(Node* const* bucket) { FetchNode(*bucket); }
  static void PrefetchSecond(Node* const* bucket) {
    if (const Node* first = *bucket) FetchNode(first->next());
  }

  // Inserts a node whose key is not in the dictionary.
  Node& Insert(std::unique_ptr<Node> node);

  // Removes a node of this dictionary and returns it.
  std::unique_ptr<Node> Extract(Node& node);

  // Replaces `old`, a node of this dictionary, by `fresh`, which has the same key. Returns `old`.
  std::unique_ptr<Node> Replace(Node& old, std::unique_ptr<Node> fresh);

  void Clear();  // O(n)

  // Creates the buckets for `nodes` insertions into an empty dictionary, so that no insertion
  // splits a bucket. O(nodes). The caller calls Trim() afterwards, which removes unused buckets.
  void Reserve(size_t nodes);
  void Trim();

  // Calls visit(const Node&) for each node. The dictionary must not change during the call. O(n).
  template <class Visit>
  void ForEach(Visit visit) const;

  // Calls visit(length) for the chain of each bucket. O(n).
  template <class Visit>
  void ForEachChain(Visit&& visit) const;

  // Calls visit(const Node&) for the nodes of the bucket at `cursor` and returns the cursor of the
  // next one, 0 at the end. A scan from 0 to 0 visits every node that exists throughout, whatever
  // is inserted or extracted between the calls. It may visit a node twice.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const;

  // Whether a scan that returned `cursor`, which is not 0, has passed the position of this key. If
  // so, a node that had this key at that time was visited, and no node with this key will be
  // visited.
  bool HasPassed(uint64_t cursor, std::string_view key) const {
    assert(cursor != 0);
    return LinearHashing::IsBefore(hash_(key), cursor);
  }

  // A random node, all equally likely except in chains longer than kUsualChain; null if empty.
  const Node* Random(Rng& rng) const;

  // Calls visit(const Node&) for the nodes of neighbouring buckets, from a random node of a random
  // bucket on, until `enough` visits have returned true, or `most` nodes or all of them were
  // visited. Every node can be the first, but not all are equally likely. O(most).
  template <class Visit>
  void Sample(Rng& rng, size_t enough, size_t most, Visit visit) const;

  // Asserts the invariants; for tests. O(n).
  void Check() const;

  // The heap bytes of the buckets, nodes left out. O(1).
  size_t BytesUsed() const { return buckets_.BytesUsed(); }

  // The average size of the bucket that a further node adds.
  static constexpr size_t kBytesPerNode = sizeof(Node*);

 private:
  // Prevents a split and a merge for each of alternating insertions and removals.
  static constexpr size_t kSpareBuckets = 64;

  // A bucket that is not split yet holds two keys at most on average; then 1 chain in 5 million is
  // longer.
  static constexpr size_t kUsualChain = 12;

  void Swap(Dictionary& other) noexcept;
  void AddBucket();
  void RemoveBucket();

  Node* FindInChain(std::string_view key) const;
  static size_t LengthOfChain(const Node* head);
  static void FetchNode(const Node* node);
  void Relink(Node& node, Node* other);
  static void Link(Node*& head, Node* node) { node->set_next(std::exchange(head, node)); }

  size_t NumberOf(std::string_view key) const { return numbers_.NumberOf(hash_(key)); }
  Node*& BucketOf(std::string_view key) { return buckets_[NumberOf(key)]; }

  [[no_unique_address]] Hash hash_;
  SegmentedArray<Node*> buckets_;  // a chain each
  LinearHashing numbers_;
  size_t size_ = 0;
};

template <class Node, class Hash>
Dictionary<Node, Hash>& Dictionary<Node, Hash>::operator=(Dictionary&& other) noexcept {
  Dictionary taken(std::move(other));
  Swap(taken);
  return *this;
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Swap(Dictionary& other) noexcept {
  std::swap(hash_, other.hash_);
  std::swap(buckets_, other.buckets_);
  std::swap(numbers_, other.numbers_);
  std::swap(size_, other.size_);
}

template <class Node, class Hash>
Node* Dictionary<Node, Hash>::FindInChain(std::string_view key) const {
  if (size_ == 0) return nullptr;
  Node* node = buckets_[NumberOf(key)];
  while (node != nullptr && node->key() != key) node = node->next();
  return node;
}

// Half of the nodes of 48 bytes cross a cache line, and their second line is needed as soon as the
// first (bench/compare/versus --only GET). Null may be fetched.
template <class Node, class Hash>
void Dictionary<Node, Hash>::FetchNode(const Node* node) {
  constexpr uintptr_t kUsualBytes = 48;
  PrefetchLine(node);
  PrefetchLine(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(node) + kUsualBytes - 1));
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Prefetch(std::span<const std::string_view> keys) const {
  constexpr size_t kAtOnce = 16;  // about as many pending cache lines as a processor has
  std::array<Node* const*, kAtOnce> buckets;
  while (size_ > 0 && !keys.empty()) {
    const auto some = keys.first(std::min(keys.size(), kAtOnce));
    for (size_t i = 0; i < some.size(); ++i) {
      buckets[i] = &buckets_[NumberOf(some[i])];
      PrefetchLine(buckets[i]);
    }
    for (size_t i = 0; i < some.size(); ++i) PrefetchChain(buckets[i]);
    for (size_t i = 0; i < some.size(); ++i) {
      PrefetchSecond(buckets[i]);  // the right node in half of the cases
    }
    keys = keys.subspan(some.size());
  }
}

template <class Node, class Hash>
Node* const* Dictionary<Node, Hash>::PrefetchBucket(std::string_view key) const {
  if (size_ == 0) return nullptr;
  Node* const* bucket = &buckets_[NumberOf(key)];
  PrefetchLine(bucket);
  return bucket;
}

template <class Node, class Hash>
Node& Dictionary<Node, Hash>::Insert(std::unique_ptr<Node> node) {
  assert(FindInChain(node->key()) == nullptr);
  if (size_ == numbers_.count()) AddBucket();
  ++size_;
  Link(BucketOf(node->key()), node.get());
  return *node.release();
}

// Makes the pointer to `node` in its chain point to `other`.
template <class Node, class Hash>
void Dictionary<Node, Hash>::Relink(Node& node, Node* other) {
  Node*& head = BucketOf(node.key());
  if (head == &node) {
    head = other;
    return;
  }
  Node* before = head;
  while (before->next() != &node) before = before->next();
  before->set_next(other);
}

template <class Node, class Hash>
std::unique_ptr<Node> Dictionary<Node, Hash>::Extract(Node& node) {
  assert(FindInChain(node.key()) == &node);
  Relink(node, node.next());
  node.set_next(nullptr);
  --size_;
  if (size_ + kSpareBuckets < numbers_.count()) RemoveBucket();
  return std::unique_ptr<Node>(&node);
}

template <class Node, class Hash>
std::unique_ptr<Node> Dictionary<Node, Hash>::Replace(Node& old, std::unique_ptr<Node> fresh) {
  assert(FindInChain(old.key()) == &old && fresh->key() == old.key());
  fresh->set_next(old.next());
  Relink(old, fresh.release());
  old.set_next(nullptr);
  return std::unique_ptr<Node>(&old);
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::AddBucket() {
  const size_t added = numbers_.count();
  buckets_.Append(nullptr);
  numbers_.Add();
  Node* rest = std::exchange(buckets_[LinearHashing::OriginOf(added)], nullptr);
  while (rest != nullptr) {
    Node* node = std::exchange(rest, rest->next());
    Link(BucketOf(node->key()), node);
  }
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::RemoveBucket() {
  numbers_.Remove();
  const size_t removed = numbers_.count();
  Node*& origin = buckets_[LinearHashing::OriginOf(removed)];
  Node* rest = buckets_[removed];
  while (rest != nullptr) {
    Node* node = std::exchange(rest, rest->next());
    Link(origin, node);
  }
  buckets_.RemoveLast();
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Reserve(size_t nodes) {
  assert(size_ == 0);
  while (buckets_.size() < nodes) buckets_.Append(nullptr);
  numbers_ = LinearHashing(buckets_.size());
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Trim() {
  while (size_ + kSpareBuckets < numbers_.count()) RemoveBucket();
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Clear() {
  for (size_t number = 0; number < numbers_.count(); ++number) {
    Node* rest = buckets_[number];
    while (rest != nullptr) delete std::exchange(rest, rest->next());
  }
  buckets_ = SegmentedArray<Node*>();
  numbers_ = LinearHashing();
  size_ = 0;
}

template <class Node, class Hash>
void Dictionary<Node, Hash>::Check() const {
  assert(numbers_.count() == buckets_.size());
  assert(size_ <= numbers_.count() && numbers_.count() <= size_ + kSpareBuckets);
  [[maybe_unused]] size_t nodes = 0;
  for (size_t number = 0; number < numbers_.count(); ++number) {
    for (const Node* node = buckets_[number]; node != nullptr; node = node->next()) {
      assert(NumberOf(node->key()) == number && FindInChain(node->key()) == node);
      ++nodes;
    }
  }
  assert(nodes == size_);
}

template <class Node, class Hash>
template <class Visit>
void Dictionary<Node, Hash>::ForEach(Visit visit) const {
  for (size_t number = 0; number < numbers_.count(); ++number) {
    for (const Node* node = buckets_[number]; node != nullptr; node = node->next()) visit(*node);
  }
}

template <class Node, class Hash>
size_t Dictionary<Node, Hash>::LengthOfChain(const Node* head) {
  size_t length = 0;
  for (const Node* node = head; node != nullptr; node = node->next()) ++length;
  return length;
}

template <class Node, class Hash>
template <class Visit>
void Dictionary<Node, Hash>::ForEachChain(Visit&& visit) const {
  for (size_t number = 0; number < numbers_.count(); ++number) {
    visit(LengthOfChain(buckets_[number]));
  }
}

template <class Node, class Hash>
template <class Visit>
uint64_t Dictionary<Node, Hash>::Scan(uint64_t cursor, Visit visit) const {
  if (numbers_.count() == 0) return 0;
  const Node* node = buckets_[numbers_.NumberOf(cursor)];
  for (; node != nullptr; node = node->next()) visit(*node);
  return numbers_.CursorAfter(cursor);
}

template <class Node, class Hash>
const Node* Dictionary<Node, Hash>::Random(Rng& rng) const {
  while (size_ > 0) {
    const Node* node = buckets_[rng.Below(numbers_.count())];
    const size_t length = LengthOfChain(node);

    // A chain is accepted with a probability proportional to its length; otherwise the keys in
    // short chains would be more likely.
    size_t drawn = rng.Below(std::max(length, kUsualChain));
    if (drawn >= length) continue;
    while (drawn-- > 0) node = node->next();
    return node;
  }
  return nullptr;
}

template <class Node, class Hash>
template <class Visit>
void Dictionary<Node, Hash>::Sample(Rng& rng, size_t enough, size_t most, Visit visit) const {
  if (size_ == 0) return;
  const size_t start = rng.Below(numbers_.count());
  const size_t length = LengthOfChain(buckets_[start]);
  const size_t skipped = length == 0 ? 0 : rng.Below(length);  // visited at the end
  for (size_t step = 0; step <= numbers_.count(); ++step) {
    const Node* node = buckets_[(start + step) % numbers_.count()];
    for (size_t place = 0; node != nullptr; node = node->next(), ++place) {
      if (step == 0 && place < skipped) continue;
      if (step == numbers_.count() && place == skipped) return;
      if (enough == 0 || most == 0) return;
      if (visit(*node)) --enough;
      --most;
    }
  }
}

}  // namespace zsetd
