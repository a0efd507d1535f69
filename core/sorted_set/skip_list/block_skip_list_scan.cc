// Scanning in the order of the member index, which stays the same whatever comes and goes:
// core/hashing/linear_hashing.h.

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/skip_list/block_hashes.h"
#include "core/sorted_set/skip_list/block_skip_list.h"

namespace zsetd {

// A bucket knows tags and blocks, not members: those are found in the blocks by their tags, and
// their hashes tell which of them are the bucket's.
uint64_t BlockSkipList::Scan(uint64_t cursor, const Visitor& visit) const {
  const BlockHashes blocks(row_, renamings_);
  MemberBuffer buffer;
  return index_.Scan(cursor, [&](uint8_t tag, uint32_t id) {
    blocks.FindTag(id, tag, [&](const Block& block, size_t i) {
      const std::string_view member = block.MemberAt(i, buffer);
      if (index_.ShareBucket(KeyedHash(member), cursor)) visit(member, block.CodeAt(i));
      return false;
    });
  });
}

}  // namespace zsetd
