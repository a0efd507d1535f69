#include "core/sorted_set/skip_list/block_skip_list.h"

#include "core/hashing/keyed_hash.h"
#include "core/util/allocation.h"

namespace zsetd {

size_t BlockSkipList::BytesUsed() const {
  return row_.BytesUsed() + levels_.BytesUsed() + index_.BytesUsed() + renamings_.BytesUsed() +
         AllocatedBytes(cut_ids_.in_round.data()) + AllocatedBytes(cut_ids_.later.data());
}

BlockSkipList::Spot BlockSkipList::SpotFor(uint64_t code, std::string_view member) const {
  const uint64_t hash = KeyedHash(member);
  index_.Prefetch(hash);
  const Spot spot{hash, levels_.Find(code, member)};
  row_.At(spot.path.child)->Prefetch();
  return spot;
}

BlockPlace BlockSkipList::Find(std::string_view member) const {
  return Find(member, KeyedHash(member));
}

BlockPlace BlockSkipList::Find(std::string_view member, uint64_t hash) const {
  BlockPlace place;
  const auto find_in = [&](uint32_t id) {
    const Block* block = row_.Find(id);
    if (block == nullptr) return false;
    block->PrefetchTags();
    const size_t index = block->Find(member, MemberIndex::TagOf(hash));
    if (index == block->count()) return false;
    place = {block, index};
    return true;
  };
  index_.Find(hash, [&](uint32_t id) { return find_in(id) || renamings_.AnyOther(id, find_in); });
  return place;
}

void BlockSkipList::Prefetch(uint64_t hash, PrefetchStep step) const {
  if (step == PrefetchStep::kIndex) return index_.Prefetch(hash);
  const uint8_t tag = MemberIndex::TagOf(hash);
  index_.Find(hash, [&](uint32_t id) {
    const Block* block = row_.Find(id);
    if (block == nullptr) return false;
    step == PrefetchStep::kBlock ? block->PrefetchTags() : block->PrefetchElement(tag);
    return false;
  });
}

size_t BlockSkipList::RankOf(BlockPlace place, std::string_view member) const {
  return levels_.Find(place.block->CodeAt(place.index), member).before + place.index;
}

size_t BlockSkipList::CountBefore(uint64_t code, std::string_view member) const {
  const Levels::Path path = levels_.Find(code, member);
  return path.before + row_.At(path.child)->LowerBound(code, member);
}

BlockPlace BlockSkipList::At(size_t rank) const {
  const Levels::Path path = levels_.FindRank(rank);
  return {row_.At(path.child), rank - path.before};
}

}  // namespace zsetd
