#include "bench/sorted_set/textbook_skip_list.h"

#include <new>

namespace zsetd::bench {

// For each level, the last node before a position, and the number of elements up to this node,
// inclusive.
struct TextbookSkipList::Path {
  Node* node[kLevels];
  size_t passed[kLevels];
};

TextbookSkipList::Node* TextbookSkipList::Make(int height, double score, TextbookString* member) {
  auto* node = static_cast<Node*>(::operator new(sizeof(Node) + (height - 1) * sizeof(Link)));
  node->member = member;
  node->score = score;
  node->previous = nullptr;
  for (int level = 0; level < height; ++level) new (&node->links[level]) Link;
  return node;
}

TextbookSkipList::TextbookSkipList() : head_(Make(kLevels, 0, nullptr)) {}

TextbookSkipList::~TextbookSkipList() {
  for (Node* node = head_; node != nullptr;) {
    Node* next = node->links[0].next;
    ::operator delete(node);
    node = next;
  }
}

TextbookSkipList::Path TextbookSkipList::PathTo(double score, std::string_view member) {
  Path path;
  Node* node = head_;
  size_t passed = 0;
  for (int level = height_ - 1; level >= 0; --level) {
    for (Node* next = node->links[level].next; next && next->Precedes(score, member);
         next = node->links[level].next) {
      passed += node->links[level].span;
      node = next;
    }
    path.node[level] = node;
    path.passed[level] = passed;
  }
  return path;
}

// Uses two bits of xorshift64 per level: p = 1/4.
int TextbookSkipList::RandomHeight() {
  chance_ ^= chance_ << 13;
  chance_ ^= chance_ >> 7;
  chance_ ^= chance_ << 17;
  int height = 1;
  for (uint64_t bits = chance_; height < kLevels && (bits & 3) == 0; bits >>= 2) ++height;
  return height;
}

TextbookSkipList::Node* TextbookSkipList::Insert(double score, TextbookString* member) {
  Path path = PathTo(score, member->view());
  const int height = RandomHeight();
  for (; height_ < height; ++height_) {
    path.node[height_] = head_;
    path.passed[height_] = 0;
    head_->links[height_] = {nullptr, size_};
  }
  Node* node = Make(height, score, member);
  for (int level = 0; level < height; ++level) {
    Link& before = path.node[level]->links[level];
    const size_t until_node = path.passed[0] - path.passed[level] + 1;
    node->links[level] = {before.next, before.span + 1 - until_node};
    before = {node, until_node};
  }
  for (int level = height; level < height_; ++level) ++path.node[level]->links[level].span;
  node->previous = path.node[0] == head_ ? nullptr : path.node[0];
  if (Node* next = node->links[0].next) next->previous = node;
  ++size_;
  return node;
}

void TextbookSkipList::Remove(double score, std::string_view member) {
  Path path = PathTo(score, member);
  Node* gone = path.node[0]->links[0].next;
  for (int level = 0; level < height_; ++level) {
    Link& before = path.node[level]->links[level];
    if (before.next == gone) {
      before = {gone->links[level].next, before.span + gone->links[level].span - 1};
    } else {
      --before.span;
    }
  }
  while (height_ > 1 && head_->links[height_ - 1].next == nullptr) --height_;
  if (Node* next = gone->links[0].next) next->previous = gone->previous;
  ::operator delete(gone);
  --size_;
}

size_t TextbookSkipList::RankOf(double score, std::string_view member) const {
  return const_cast<TextbookSkipList*>(this)->PathTo(score, member).passed[0];
}

const TextbookSkipList::Node* TextbookSkipList::FirstFrom(double score) const {
  return const_cast<TextbookSkipList*>(this)->PathTo(score, {}).node[0]->links[0].next;
}

const TextbookSkipList::Node* TextbookSkipList::At(size_t rank) const {
  const Node* node = head_;
  size_t passed = 0;
  for (int level = height_ - 1; level >= 0; --level) {
    while (node->links[level].next && passed + node->links[level].span <= rank + 1) {
      passed += node->links[level].span;
      node = node->links[level].next;
    }
  }
  return node;
}

}  // namespace zsetd::bench
