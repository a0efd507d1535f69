#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_table.h"
#include "core/sorted_set/skip_list/member_index.h"
#include "core/sorted_set/skip_list/pending_moves.h"

namespace zsetd {

// What the index asks when it splits a bucket, and who follows its entries.
class BlockHashes : public MemberIndex::Blocks {
 public:
  BlockHashes(const BlockRow& row, const Renamings& renamings) : row_(row), renamings_(renamings) {}

  // Calls visit(block, i) for each element with that tag that the index knows by that id, always in
  // the same order, until it returns true; then true.
  template <class Visit>
  bool FindTag(uint32_t id, uint8_t tag, Visit visit) const {
    const auto find_in = [&](uint32_t place) {
      const Block* block = row_.Find(place);
      return block != nullptr && block->FindTag(tag, [&](size_t i) {
        return renamings_.NameOf(place, i) == id && visit(*block, i);
      });
    };
    return find_in(id) || renamings_.AnyOther(id, find_in);
  }

  std::optional<uint64_t> HashOf(uint32_t id, uint8_t tag, uint64_t mask, uint64_t low_bits,
                                 size_t nth) const override {
    std::optional<uint64_t> found;
    MemberBuffer buffer;
    FindTag(id, tag, [&](const Block& block, size_t i) {
      const uint64_t hash = KeyedHash(block.MemberAt(i, buffer));
      if ((hash & mask) == low_bits && nth-- == 0) found = hash;
      return found.has_value();
    });
    return found;
  }
  bool IsThere(uint32_t id) const override { return row_.Find(id) != nullptr; }
  void PrefetchBlock(uint32_t id) const override {
    if (const Block* block = row_.Find(id)) block->PrefetchTags();
  }
  void PrefetchMember(uint32_t id, uint8_t tag) const override {
    if (const Block* block = row_.Find(id)) block->PrefetchMember(tag);
  }

 private:
  const BlockRow& row_;
  const Renamings& renamings_;
};

}  // namespace zsetd
