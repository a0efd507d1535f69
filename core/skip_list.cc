#include "core/skip_list.h"

#include <cassert>
#include <new>

#include "core/allocation.h"

namespace zsetd {

// The last node before a place, on each level, and how many elements stand up to and with it.
struct SkipList::Path {
  Node* node[kLevels];
  size_t passed[kLevels];
};

SkipList::Node* SkipList::Node::Make(int height, double score, std::string member) {
  void* memory = ::operator new(sizeof(Node) + height * sizeof(Link));
  Node* node = new (memory) Node(score, std::move(member));
  for (int level = 0; level < height; ++level) new (node->links() + level) Link;
  return node;
}

void SkipList::Node::Free(Node* node) {
  node->~Node();
  ::operator delete(node);
}

size_t SkipList::Node::BytesUsed() const { return AllocatedBytes(this) + AllocatedBytes(member_); }

SkipList::SkipList() : head_(Node::Make(kLevels, 0, {})), bytes_used_(head_->BytesUsed()) {}

SkipList::~SkipList() {
  for (Node* node = head_; node != nullptr;) {
    Node* next = node->links()[0].next;
    Node::Free(node);
    node = next;
  }
}

SkipList::Path SkipList::PathTo(double score, std::string_view member) {
  Path path;
  Node* node = head_;
  size_t passed = 0;
  for (int level = height_ - 1; level >= 0; --level) {
    for (Link link = node->links()[level]; link.next && link.next->Precedes(score, member);
         link = node->links()[level]) {
      passed += link.span;
      node = link.next;
    }
    path.node[level] = node;
    path.passed[level] = passed;
  }
  return path;
}

// Two bits of xorshift64 a level: p = 1/4.
int SkipList::RandomHeight() {
  chance_ ^= chance_ << 13;
  chance_ ^= chance_ >> 7;
  chance_ ^= chance_ << 17;
  int height = 1;
  for (uint64_t bits = chance_; height < kLevels && (bits & 3) == 0; bits >>= 2) ++height;
  return height;
}

SkipList::Node* SkipList::Insert(double score, std::string member) {
  Path path = PathTo(score, member);
  const int height = RandomHeight();
  for (; height_ < height; ++height_) {
    path.node[height_] = head_;
    path.passed[height_] = 0;
    head_->links()[height_] = {nullptr, size_};
  }

  Node* node = Node::Make(height, score, std::move(member));
  const size_t rank = path.passed[0];
  for (int level = 0; level < height; ++level) {
    Link& before = path.node[level]->links()[level];
    const size_t until_node = rank - path.passed[level] + 1;
    node->links()[level] = {before.next, before.span + 1 - until_node};
    before = {node, until_node};
  }
  for (int level = height; level < height_; ++level) ++path.node[level]->links()[level].span;

  node->previous_ = path.node[0] == head_ ? nullptr : path.node[0];
  Node* next = node->links()[0].next;
  (next ? next->previous_ : last_) = node;
  ++size_;
  bytes_used_ += node->BytesUsed();
  return node;
}

void SkipList::Remove(const Node* node) {
  Path path = PathTo(node->score_, node->member_);
  Node* gone = path.node[0]->links()[0].next;
  assert(gone == node);
  for (int level = 0; level < height_; ++level) {
    Link& before = path.node[level]->links()[level];
    if (before.next == gone) {
      before = {gone->links()[level].next, before.span + gone->links()[level].span - 1};
    } else {
      --before.span;
    }
  }
  while (height_ > 1 && head_->links()[height_ - 1].next == nullptr) --height_;

  Node* next = gone->links()[0].next;
  (next ? next->previous_ : last_) = gone->previous_;
  --size_;
  bytes_used_ -= gone->BytesUsed();
  Node::Free(gone);
}

size_t SkipList::CountWhile(const std::function<bool(const Node&)>& precedes) const {
  const Node* node = head_;
  size_t passed = 0;
  for (int level = height_ - 1; level >= 0; --level) {
    for (Link link = node->links()[level]; link.next && precedes(*link.next);
         link = node->links()[level]) {
      passed += link.span;
      node = link.next;
    }
  }
  return passed;
}

const SkipList::Node* SkipList::At(size_t rank) const {
  if (rank >= size_) return nullptr;
  const Node* node = head_;
  size_t passed = 0;
  for (int level = height_ - 1; level >= 0; --level) {
    for (Link link = node->links()[level]; link.next && passed + link.span <= rank + 1;
         link = node->links()[level]) {
      passed += link.span;
      node = link.next;
    }
  }
  return node;
}

}  // namespace zsetd
