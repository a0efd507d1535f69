#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace zsetd {

// Scored members in order of score and, among equal scores, of their bytes.
//
//   level 2   head ----------------------> c ----------------------> end
//   level 1   head ---------> b ---------> c ----------------------> end
//   level 0   head --> a ---> b ---------> c --> d --> e ----------> end
//
// Pugh 1990, "Skip Lists: A Probabilistic Alternative to Balanced Trees": a node stands on level i
// with chance p^i, so a search that starts at the top skips most nodes. Each link knows how many
// elements it passes (its span), which gives ranks. All costs are expected ones, for n elements.
//
// Invariant: the sum of the spans from the head to a node is the node's rank plus one.
class SkipList {
 public:
  class Node;

  SkipList();
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;
  ~SkipList();

  size_t size() const { return size_; }
  const Node* first() const;
  const Node* last() const { return last_; }

  // The heap bytes, allocator rounding included. O(1).
  size_t BytesUsed() const { return bytes_used_; }

  // Adds an element that is not there. O(log n).
  Node* Insert(double score, std::string member);

  // Takes out the element of `node` and frees it. O(log n).
  void Remove(const Node* node);

  // How many elements, from the lowest on, `precedes` holds for. It holds for none that follows one
  // it does not hold for. O(log n).
  size_t CountWhile(const std::function<bool(const Node&)>& precedes) const;

  // The element of that rank, or null. O(log n).
  const Node* At(size_t rank) const;

 private:
  static constexpr int kLevels = 32;  // with p = 1/4 enough for 2^64 elements

  struct Link {
    Node* next = nullptr;
    size_t span = 0;  // elements passed, the one arrived at included
  };
  struct Path;

  Path PathTo(double score, std::string_view member);
  int RandomHeight();

  Node* head_;
  Node* last_ = nullptr;
  size_t size_ = 0;
  size_t bytes_used_ = 0;
  int height_ = 1;
  uint64_t chance_ = 0x9E3779B97F4A7C15;  // a fixed seed: the same calls build the same list
};

class SkipList::Node {
 public:
  double score() const { return score_; }
  std::string_view member() const { return member_; }

  // Neighbours in order, or null. O(1).
  const Node* next() const { return links()[0].next; }
  const Node* previous() const { return previous_; }

  // Whether the element comes before one of that score and member.
  bool Precedes(double score, std::string_view member) const {
    return score_ < score || (score_ == score && member_ < member);
  }

 private:
  friend class SkipList;

  Node(double score, std::string member) : score_(score), member_(std::move(member)) {}

  static Node* Make(int height, double score, std::string member);
  static void Free(Node* node);
  size_t BytesUsed() const;

  // The links stand right behind the node, one for each level it reaches.
  Link* links() { return reinterpret_cast<Link*>(this + 1); }
  const Link* links() const { return reinterpret_cast<const Link*>(this + 1); }

  double score_;
  std::string member_;
  Node* previous_ = nullptr;
};

inline const SkipList::Node* SkipList::first() const { return head_->next(); }

}  // namespace zsetd
