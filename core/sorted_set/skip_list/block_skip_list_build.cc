// Whole lists: made of packed blocks, or of another list.

#include <cassert>

#include "core/sorted_set/skip_list/block_hashes.h"
#include "core/sorted_set/skip_list/block_skip_list.h"
#include "core/sorted_set/skip_list/tie_breaker.h"

namespace zsetd {

BlockSkipList::BlockSkipList(std::span<Block* const> blocks, std::span<const uint64_t> hashes)
    : row_(blocks),
      levels_(LeavesOf(row_)),
      index_(MembersOf(row_, hashes),
             [this](const auto& first, const auto& second) { return IsTwice(first, second); }) {}

std::unique_ptr<BlockSkipList> BlockSkipList::Make(std::span<Block* const> blocks,
                                                   std::span<const uint64_t> hashes) {
  assert(!blocks.empty());
  std::unique_ptr<BlockSkipList> list(new BlockSkipList(blocks, hashes));
  return list->index_.size() == list->size() ? std::move(list) : nullptr;
}

std::vector<Levels::Leaf> BlockSkipList::LeavesOf(const BlockRow& row) {
  std::vector<Levels::Leaf> leaves;
  leaves.reserve(row.count());
  MemberBuffer buffers[2];
  for (const Block* block = row.First(); block != nullptr; block = row.Next(*block)) {
    const BlockItem first = block->ItemAt(0, buffers[0]);
    Levels::Leaf& leaf = leaves.emplace_back();
    leaf.code = first.code;
    leaf.child = block->id;
    leaf.span = block->count();
    const Block* left = row.Previous(*block);
    if (left == nullptr) continue;
    leaf.tie = TieBreaker(left->ItemAt(left->count() - 1, buffers[1]), first);
  }
  return leaves;
}

std::vector<MemberIndex::Member> BlockSkipList::MembersOf(const BlockRow& row,
                                                          std::span<const uint64_t> hashes) {
  std::vector<MemberIndex::Member> members;
  members.reserve(hashes.size());
  for (const Block* block = row.First(); block != nullptr; block = row.Next(*block)) {
    assert(block->tagged() && members.size() + block->count() <= hashes.size());
    for (const uint64_t hash : hashes.subspan(members.size(), block->count())) {
      members.push_back({hash, block->id});
    }
  }
  assert(members.size() == hashes.size());
  return members;
}

// Whether two elements of the same hash, in these blocks, have the same member.
bool BlockSkipList::IsTwice(const MemberIndex::Member& first,
                            const MemberIndex::Member& second) const {
  const Block& left = *row_.At(first.id);
  const Block& right = *row_.At(second.id);
  const uint8_t tag = MemberIndex::TagOf(first.hash);
  MemberBuffer buffers[2];
  return left.FindTag(tag, [&](size_t i) {
    return right.FindTag(tag, [&](size_t j) {
      const bool is_one_element = &left == &right && i == j;
      return !is_one_element && left.MemberAt(i, buffers[0]) == right.MemberAt(j, buffers[1]);
    });
  });
}

std::unique_ptr<BlockSkipList> BlockSkipList::Clone() const {
  return std::unique_ptr<BlockSkipList>(new BlockSkipList(*this));
}

}  // namespace zsetd
