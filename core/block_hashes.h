#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/block.h"
#include "core/block_row.h"
#include "core/keyed_hash.h"
#include "core/member_index.h"

namespace zsetd {

// What the index asks when it splits a bucket.
class BlockHashes : public MemberIndex::Blocks {
 public:
  explicit BlockHashes(const BlockRow& row) : row_(row) {}

  std::optional<uint64_t> HashOf(uint32_t id, uint8_t tag, uint64_t mask, uint64_t low_bits,
                                 size_t nth) const override {
    const Block* block = row_.Find(id);
    std::optional<uint64_t> found;
    MemberBuffer buffer;
    if (block == nullptr) return found;
    block->FindTag(tag, [&](size_t i) {
      const uint64_t hash = KeyedHash(block->MemberAt(i, buffer));
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
};

}  // namespace zsetd
