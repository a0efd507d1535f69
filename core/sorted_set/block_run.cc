#include "core/sorted_set/block_run.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/score_encoding.h"

namespace zsetd {

BlockRun::~BlockRun() {
  for (Block* block : blocks_) {
    block->FreeLargeMembers();
    Block::Free(block);
  }
}

size_t BlockRun::Pack(std::span<const Element> elements) {
  assert(!elements.empty());
  elements = elements.first(std::min(elements.size(), likely_most_));
  const auto place = [&](size_t i) {
    return from_ == BlockSide::kFirst ? i : elements.size() - 1 - i;
  };
  items_.resize(elements.size());
  hashes_.resize(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    hashes_[i] = KeyedHash(element.member);
    items_[place(i)] = {.code = ScoreCode(element.score),
                        .member = element.member,
                        .large = MakeLarge(element.member),
                        .tag = MemberIndex::TagOf(hashes_[i])};
  }
  Block* const block = PackFull(items_, from_);
  const size_t packed = block->count();
  const auto number = static_cast<uint32_t>(blocks_.size());
  for (size_t i = 0; i < packed; ++i) members_.push_back({hashes_[i], number});
  for (size_t i = packed; i < elements.size(); ++i) LargeMember::Free(items_[place(i)].large);
  blocks_.push_back(block);
  likely_most_ = std::min(2 * packed, Block::kMaxCount);
  return packed;
}

std::unique_ptr<BlockSkipList> BlockRun::Build() {
  if (from_ == BlockSide::kLast) {
    std::reverse(blocks_.begin(), blocks_.end());
    const auto last = static_cast<uint32_t>(blocks_.size() - 1);
    for (MemberIndex::Member& member : members_) member.id = last - member.id;
  }
  return BlockSkipList::Make(std::exchange(blocks_, {}), std::move(members_));
}

}  // namespace zsetd
