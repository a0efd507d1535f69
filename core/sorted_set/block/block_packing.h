#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/sorted_set/block/block.h"

namespace zsetd {

// The rules by which blocks are filled.
//
// A block takes 160 elements or 4 KB, without deadlines. With payloads it takes up to 16 KB,
// if 160 elements of its size fill them, because its elements share the cost of the header and of
// the rest that no further element fits. A block that overflows is split into halves, which are
// copied if packing them again would save nothing. Its allocation grows a little at a time, and
// shrinks when a third of it is free.

// Inserts the item at `i`: in place, or by moving the block, or by packing it again. Returns the
// block, possibly at another address; null, with nothing changed, if it would be too large for one.
Block* InsertOrGrow(Block* block, size_t i, const BlockItem& item);

// Sets or, with kNoDeadline, removes the deadline of element `i`: in place, or by moving the block.
// Returns the block, possibly at another address.
Block* SetDeadlineOrGrow(Block* block, size_t i, uint64_t deadline);

// Sets, replaces or removes the payload of element `i`: in place, or by moving the block. Returns
// the block, possibly at another address; null, with nothing changed, if it would be too large for
// one. Block::SetPayload() has the preconditions.
Block* SetPayloadOrGrow(Block* block, size_t i, const PackedPayload& payload);

// Erases the elements from `first` to before `last`, which are not all. Their LargeMembers may
// have been freed already. Returns the block, possibly at another address.
Block* EraseAndShrink(Block* block, size_t first, size_t last);

// A block of the items, which are in order and at least one; null if they are too many for one.
Block* PackIfFitting(std::span<const BlockItem> items, bool tagged);

// A tagged block of as many of the items as fit, from the first or from the last on. They are in
// order, and at least one.
enum class BlockSide { kFirst, kLast };
Block* PackFull(std::span<const BlockItem> items, BlockSide side);

// Splits a block that has no room for the item, which belongs at `i`. Returns its halves with the
// item: two blocks or more. The old block has at least two elements. It is freed; the first new
// block replaces it.
std::vector<Block*> Split(Block* block, size_t i, const BlockItem& item);

// Packs the items, which are at least one, into as many blocks as they need.
std::vector<Block*> PackAll(std::span<const BlockItem> items, bool tagged);

// Merge() returns one block with the elements of both, which are unchanged; null if it would be
// more than three quarters full. MayMerge() is a fast check that detects most of these cases.
bool MayMerge(const Block& left, const Block& right);
Block* Merge(const Block& left, const Block& right);

}  // namespace zsetd
