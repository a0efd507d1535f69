#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zsetd {

// Maps byte strings to values, and finds the strings that are prefixes of a text. A trie whose
// edges have as many bytes as possible (Morrison 1968, "PATRICIA").
//
//        root ── "user:" ─┬─ "1" (value) ── "23" (value)
//                         └─ "4" (value)
//
// A search takes O(length of the text), independent of the number and the lengths of the strings. A
// change also takes O(length of one edge), which it splits or extends.
//
// Invariants: the edges of one node begin with different bytes and are sorted by them; every node
// except the root has a value or at least two children, so there are fewer than two nodes for each
// value.
template <class Value>
class PrefixTree {
 public:
  PrefixTree() = default;
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;
  ~PrefixTree() { FreeAll(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The value at exactly this string, or null. Valid until the tree changes.
  Value* Find(std::string_view text);

  // Like Find(), but inserts Value() if the string has no value.
  Value& FindOrInsert(std::string_view text);

  // Erases the value. Returns false if the string has no value.
  bool Erase(std::string_view text);

  // Calls `visit(Value&)` for every string that `text` begins with, the shortest first, until it
  // returns false.
  template <class Visit>
  void VisitPrefixesOf(std::string_view text, Visit visit);

  // The most memory that a string of this size takes, without what its Value owns.
  static constexpr size_t BytesFor(size_t size) { return size + 2 * (sizeof(Node) + kSlotBytes); }

 private:
  struct Node {
    std::string edge;  // the bytes between the parent and this node
    std::optional<Value> value;
    std::vector<std::unique_ptr<Node>> children;
  };
  using Slot = typename std::vector<std::unique_ptr<Node>>::iterator;

  static constexpr size_t kSlotBytes = 2 * sizeof(void*);  // a vector has up to twice its size

  // The position of the child whose edge begins with that byte, or where to insert it.
  static Slot SlotFor(Node& node, char first) {
    return std::ranges::lower_bound(node.children, first, {},
                                    [](const auto& child) { return child->edge[0]; });
  }

  // Follows one edge: returns the child whose edge `text` begins with, and removes the edge's bytes
  // from `text`; or null.
  static Node* Follow(Node& node, std::string_view& text);

  static size_t CommonSize(std::string_view a, std::string_view b) {
    return std::ranges::mismatch(a, b).in1 - a.begin();
  }

  static Node& AddLeaf(Node& node, Slot slot, std::string_view edge);
  static Node& Split(std::unique_ptr<Node>& node, size_t upper_size);
  static void JoinWithOnlyChild(Node& node);
  void FreeAll();

  Node root_;  // its edge is empty
  size_t size_ = 0;
};

template <class Value>
auto PrefixTree<Value>::Follow(Node& node, std::string_view& text) -> Node* {
  if (text.empty()) return nullptr;
  const Slot slot = SlotFor(node, text[0]);
  if (slot == node.children.end() || !text.starts_with((*slot)->edge)) return nullptr;
  text.remove_prefix((*slot)->edge.size());
  return slot->get();
}

template <class Value>
Value* PrefixTree<Value>::Find(std::string_view text) {
  Node* node = &root_;
  while (node != nullptr && !text.empty()) node = Follow(*node, text);
  return node != nullptr && node->value ? &*node->value : nullptr;
}

template <class Value>
Value& PrefixTree<Value>::FindOrInsert(std::string_view text) {
  Node* node = &root_;
  while (!text.empty()) {
    if (Node* const next = Follow(*node, text)) {
      node = next;
      continue;
    }
    const Slot slot = SlotFor(*node, text[0]);
    const bool shares_bytes = slot != node->children.end() && (*slot)->edge[0] == text[0];
    node =
        shares_bytes ? &Split(*slot, CommonSize((*slot)->edge, text)) : &AddLeaf(*node, slot, text);
    text.remove_prefix(node->edge.size());
  }
  if (!node->value) {
    node->value.emplace();
    ++size_;
  }
  return *node->value;
}

template <class Value>
auto PrefixTree<Value>::AddLeaf(Node& node, Slot slot, std::string_view edge) -> Node& {
  auto leaf = std::make_unique<Node>();
  leaf->edge = edge;
  return **node.children.insert(slot, std::move(leaf));
}

// Inserts a node after the first `upper_size` bytes of the edge, and returns it.
template <class Value>
auto PrefixTree<Value>::Split(std::unique_ptr<Node>& node, size_t upper_size) -> Node& {
  assert(0 < upper_size && upper_size < node->edge.size());
  std::unique_ptr<Node> lower = std::exchange(node, std::make_unique<Node>());
  node->edge = lower->edge.substr(0, upper_size);
  lower->edge = lower->edge.substr(upper_size);
  node->children.push_back(std::move(lower));
  return *node;
}

template <class Value>
bool PrefixTree<Value>::Erase(std::string_view text) {
  Node* parent = nullptr;
  Node* node = &root_;
  char first = 0;  // of the edge from `parent` to `node`
  while (!text.empty()) {
    first = text[0];
    parent = std::exchange(node, Follow(*node, text));
    if (node == nullptr) return false;
  }
  if (!node->value) return false;
  node->value.reset();
  --size_;
  if (node == &root_) return true;
  if (node->children.empty()) {
    parent->children.erase(SlotFor(*parent, first));
    node = parent;
  }
  if (node != &root_ && !node->value && node->children.size() == 1) JoinWithOnlyChild(*node);
  return true;
}

template <class Value>
void PrefixTree<Value>::JoinWithOnlyChild(Node& node) {
  const std::unique_ptr<Node> child = std::move(node.children.front());
  node.edge += child->edge;
  node.value = std::move(child->value);
  node.children = std::move(child->children);
}

template <class Value>
template <class Visit>
void PrefixTree<Value>::VisitPrefixesOf(std::string_view text, Visit visit) {
  for (Node* node = &root_; node != nullptr; node = Follow(*node, text)) {
    if (node->value && !visit(*node->value)) return;
  }
}

// Does not use recursion, because a tree may be as deep as its longest string.
template <class Value>
void PrefixTree<Value>::FreeAll() {
  std::vector<std::unique_ptr<Node>> left = std::move(root_.children);
  while (!left.empty()) {
    const std::unique_ptr<Node> node = std::move(left.back());
    left.pop_back();
    std::ranges::move(node->children, std::back_inserter(left));
  }
}

}  // namespace zsetd
