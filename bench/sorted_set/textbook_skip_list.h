#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bench/sorted_set/textbook_string.h"

namespace zsetd::bench {

// The yardstick: the skip list of the textbook (Pugh 1990, p = 1/4). Each link has the number of
// elements that it passes. A node and its member are separate allocations. The dictionary owns the
// member; the node only refers to it.
class TextbookSkipList {
 public:
  struct Node;
  struct Link {
    Node* next = nullptr;
    size_t span = 0;
  };
  struct Node {
    TextbookString* member;
    double score;
    Node* previous;
    Link links[1];  // one for each level of the node

    bool Precedes(double other_score, std::string_view other) const {
      return score < other_score || (score == other_score && member->view() < other);
    }
  };

  TextbookSkipList();
  TextbookSkipList(const TextbookSkipList&) = delete;
  TextbookSkipList& operator=(const TextbookSkipList&) = delete;
  ~TextbookSkipList();  // does not free the members

  size_t size() const { return size_; }
  const Node* first() const { return head_->links[0].next; }

  Node* Insert(double score, TextbookString* member);
  void Remove(double score, std::string_view member);
  size_t RankOf(double score, std::string_view member) const;  // the number of elements before it
  const Node* At(size_t rank) const;
  const Node* FirstFrom(double score) const;

 private:
  static constexpr int kLevels = 32;
  struct Path;

  static Node* Make(int height, double score, TextbookString* member);
  Path PathTo(double score, std::string_view member);
  int RandomHeight();

  Node* head_;
  size_t size_ = 0;
  int height_ = 1;
  uint64_t chance_ = 0x9E3779B97F4A7C15;
};

}  // namespace zsetd::bench
