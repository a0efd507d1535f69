#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// The upper levels over a list of blocks: which block a key belongs to, and how many elements come
// before it.
//
//   level 2                       [ -   c   m ]
//                                  /    |    \                      separators, spans, children
//   level 1   [ -   a   b ]   [ c   f   g ]   [ m   p ]
//              /    |   |      /    |   |      /    |
//   blocks    0     1   2     3     4   5     6     7
//
// It is a deterministic skip list (Munro, Papadakis, Sedgewick 1992, "Deterministic Skip Lists")
// whose nodes hold many elements of a level instead of one. Counting, never chance, decides which
// elements are promoted to the level above. It is also a B+ tree: a node is the stretch of a level
// between two elements of the level above. Random heights would leave nodes half empty and lengthen
// some searches.
//
// A separator is a bound: the elements of its child are not below it, and those of the children
// before are. It is the code of a score, and bytes of a member only where the scores on both sides
// of it are equal. Removing elements never changes a separator. That of a node's first entry is not
// used: the level above has decided.
//
// Invariants: every entry's span is the number of elements under it; all blocks are on one level;
// no node is empty, and only the top one may have a single entry.
class SeparatorLevels {
  struct Node;
  union Child;

 public:
  static constexpr size_t kFanout = 61;
  static constexpr size_t kNodeBytes = 1280;  // which that many entries fill

  // The way down to a block.
  struct Path {
    struct Step {
      Node* node;
      size_t slot;
    };
    std::array<Step, 16> steps;  // from the top down
    int height = 0;              // 0: not a path
    uint32_t child = 0;          // the block
    size_t before = 0;           // elements in the blocks to its left

    Path() {}  // NOLINT: without `= default`, which would initialize the steps
    explicit operator bool() const { return height > 0; }

    // Whether the block is the first under its node.
    bool IsFirstOfNode() const { return steps[height - 1].slot == 0; }
  };

  // One block with that many elements.
  SeparatorLevels(uint32_t child, size_t span);

  // A block, and the separator between the one before it and this one.
  struct Leaf {
    uint64_t code = 0;
    std::string tie;
    uint32_t child = 0;
    size_t span = 0;
  };

  // These blocks, at least one, in order: the nodes are full. O(blocks).
  explicit SeparatorLevels(std::vector<Leaf> leaves);

  SeparatorLevels(const SeparatorLevels& other);  // O(blocks)
  SeparatorLevels& operator=(const SeparatorLevels&) = delete;
  ~SeparatorLevels();

  size_t size() const { return size_; }  // elements under it
  size_t BytesUsed() const { return bytes_used_; }
  int height() const { return height_; }

  // The block where the key belongs. O(log n). A path is valid until a block is added or removed.
  Path Find(uint64_t code, std::string_view member) const;

  // The block that holds the element of that rank, which exists. O(log n).
  Path FindRank(size_t rank) const;

  // Adds to the number of elements of the block. O(height).
  void Add(const Path& path, ptrdiff_t elements);

  // The last `span` elements of the block to which the separator belongs, those not below the
  // separator, were moved to a new block to its right. O(log n).
  void Split(uint64_t code, std::string_view member, uint32_t child, size_t span);

  // All elements of the first block but its last `span`, those not below the separator, were moved
  // to a new block before it. O(log n).
  void Prepend(uint64_t code, std::string_view member, uint32_t child, size_t span);

  // Removes the block, which has no elements left and is not the only one. Its keys now belong to
  // the block on its left; those of the first under a node, to the one on its right. O(log n).
  void Remove(const Path& path);

  // Removes the blocks that hold the elements of these ranks, all of them and no others; other
  // blocks remain. Appends their ids to `children`, in order. O(log n + blocks).
  void Cut(size_t first, size_t last, std::vector<uint32_t>& children);

  // Appends the ids of all blocks, in order. O(blocks).
  void AppendChildren(std::vector<uint32_t>& children) const {
    AppendUnder(*top_, height_, children);
  }

  // Asserts the invariants; for tests. O(n).
  void Check() const;

 private:
  struct Entry;

  static constexpr size_t kLeastRoom = 4;  // entries, in the only node at first

  static size_t SlotOf(const Node& node, uint64_t code, std::string_view member);
  std::vector<Entry> NodesOf(std::span<Entry> entries);
  void Finish(Path& path) const;
  Path First() const;
  void Insert(const Path& path, Entry entry, size_t kept);
  Node& WithRoom(Node& node);
  bool IsLast(const Path& path) const;
  Entry SplitNode(Node& node, size_t kept, size_t slot, Entry entry);
  void MakeTop(Entry entry);
  void LowerTop();
  void MergeUnderfull(const Path& path, int level);
  void MergeNodes(Node& parent, size_t slot);
  void CheckNode(const Node& node, int height) const;
  static void FreeAll(Node* node, int height);
  static void AppendUnder(const Node& node, int height, std::vector<uint32_t>& children);
  static Node* Cloned(const Node& node, int height);
  size_t BytesUnder(const Node& node, int height) const;
  void CutNode(Node& node, int height, size_t first, size_t last, std::vector<uint32_t>& children);
  void Take(Child child, int height, std::vector<uint32_t>& children);

  template <class Change>
  void Changing(Node& node, Change change);  // keeps the bytes counted

  Node* top_ = nullptr;
  int height_ = 1;
  size_t size_ = 0;
  size_t bytes_used_ = 0;
};

}  // namespace zsetd
