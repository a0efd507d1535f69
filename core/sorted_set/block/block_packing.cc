#include "core/sorted_set/block/block_packing.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "core/sorted_set/block/block_builder.h"
#include "core/sorted_set/block/unpacked_block.h"

namespace zsetd {
namespace {

constexpr size_t kMergedCount = Block::kMaxCount * 3 / 4;

// The most bytes of a block whose elements, of this number, take these bytes. With payloads, the
// largest allocation that 160 such elements fill. Allocators have four sizes for each doubling.
size_t MostBytes(size_t count, size_t bytes, bool has_payloads) {
  if (!has_payloads) [[likely]]
    return Block::kMaxBytes;
  const size_t filled = Block::kMaxCount * bytes / count;
  const size_t most = std::clamp(filled, Block::kMaxBytes, Block::kMaxBytesWithPayloads);
  return most - most % (std::bit_floor(most) / 4);
}

size_t MostMergedBytes(size_t count, size_t bytes, bool has_payloads) {
  return MostBytes(count, bytes, has_payloads) * 3 / 4;
}

// The free room of a block that grows.
size_t Growth(const Block& block) { return block.used_bytes() / 32; }

size_t UsedBytes(const Block& block) { return block.used_bytes() - block.deadline_bytes(); }

size_t BytesOf(const BlockPlan& plan) { return Block::kHeaderBytes + plan.bytes; }

// Moves the block into a smaller allocation if a third of this one is free.
Block* ShrinkIfSlack(Block* block) {
  return block->free_bytes() > block->allocated_bytes() / 3 ? BlockBuilder::Moved(block, 0) : block;
}

size_t MostBytesFor(std::span<const BlockItem> items, const BlockPlan& plan) {
  return MostBytes(items.size(), BytesOf(plan), PayloadBytes(items) > 0);
}

bool Fits(std::span<const BlockItem> items, const BlockPlan& plan) {
  return items.size() <= Block::kMaxCount && BytesOf(plan) <= MostBytesFor(items, plan);
}

void PackHalves(std::span<const BlockItem> items, bool tagged, std::vector<Block*>& blocks) {
  if (items.size() <= Block::kMaxCount) {
    const BlockPlan plan = PlanBlock(items, tagged);
    if (Fits(items, plan)) {
      blocks.push_back(BlockBuilder::Pack(items, plan));
      return;
    }
  }
  const size_t half = items.size() / 2;
  PackHalves(items.first(half), tagged, blocks);
  PackHalves(items.subspan(half), tagged, blocks);
}

// Packs the block again with the item; null if the result would be too large.
Block* Repacked(Block* block, size_t i, const BlockItem& item) {
  UnpackedBlock unpacked(*block);
  unpacked.Insert(i, item);
  const BlockPlan plan = PlanBlock(unpacked.items(), block->tagged(), i);
  if (!Fits(unpacked.items(), plan)) return nullptr;
  Block* packed = BlockBuilder::Pack(unpacked.items(), plan);
  packed->TakePlaceOf(*block);
  Block::Free(block);
  return packed;
}

// A part of the block as a block of its own, in the tightest format.
Block* Extracted(const Block& block, size_t first, size_t last, size_t room) {
  Block* part = BlockBuilder::Part(block, first, last, room);
  if (BlockBuilder::IsTight(*part)) return part;
  UnpackedBlock unpacked(*part);
  Block* packed = BlockBuilder::Pack(unpacked.items(), PlanBlock(unpacked.items(), block.tagged()));
  Block::Free(part);
  return packed;
}

// Appends the part with the item at `i`, in two blocks if its members are long or the item does not
// fit the format.
void AppendWith(Block* part, size_t i, const BlockItem& item, std::vector<Block*>& blocks) {
  if (Block* grown = InsertOrGrow(part, i, item)) return blocks.push_back(grown);
  UnpackedBlock unpacked(*part);
  unpacked.Insert(i, item);
  PackHalves(unpacked.items(), part->tagged(), blocks);
  Block::Free(part);
}

}  // namespace

Block* InsertOrGrow(Block* block, size_t i, const BlockItem& item) {
  if (block->count() == Block::kMaxCount) return nullptr;
  switch (block->Insert(i, item)) {
    case Block::Insertion::kDone:
      return block;
    case Block::Insertion::kOtherFormat:
      return Repacked(block, i, item);
    case Block::Insertion::kNoRoom:
      break;
  }
  const size_t used = UsedBytes(*block), needed = block->RoomFor(item);
  const bool has_payloads = block->has_payloads() || item.payload_length > 0;
  const size_t most = MostBytes(block->count() + 1, used + needed, has_payloads);
  if (used + needed > most) {
    return BlockBuilder::IsTight(*block) ? nullptr : Repacked(block, i, item);
  }
  const size_t room = std::min(needed + Growth(*block), most - used);
  block = BlockBuilder::Moved(block, room + block->RoomForDeadline());
  block->Insert(i, item);
  return block;
}

Block* SetDeadlineOrGrow(Block* block, size_t i, uint64_t deadline) {
  const size_t missing = block->SetDeadline(i, deadline);
  if (missing == 0) return block;
  block = BlockBuilder::Moved(block, block->free_bytes() + missing);
  block->SetDeadline(i, deadline);
  return block;
}

Block* SetPayloadOrGrow(Block* block, size_t i, const PackedPayload& payload) {
  const size_t missing = block->SetPayload(i, payload);
  if (missing == 0) return ShrinkIfSlack(block);
  const size_t free = block->free_bytes(), used = UsedBytes(*block);
  const size_t most = MostBytes(block->count(), used + free + missing, /*has_payloads=*/true);
  if (used + free + missing > most) return nullptr;
  const size_t room = std::min(free + missing + Growth(*block), most - used);
  block = BlockBuilder::Moved(block, room);
  block->SetPayload(i, payload);
  return block;
}

Block* EraseAndShrink(Block* block, size_t first, size_t last) {
  block->Erase(first, last);
  return ShrinkIfSlack(block);
}

std::vector<Block*> Split(Block* block, size_t i, const BlockItem& item) {
  const size_t count = block->count(), half = count / 2, room = Growth(*block);
  assert(half > 0);
  std::vector<Block*> parts;
  if (i < half) {
    AppendWith(Extracted(*block, 0, half, room), i, item, parts);
    parts.push_back(Extracted(*block, half, count, 0));
  } else {
    parts.push_back(Extracted(*block, 0, half, 0));
    AppendWith(Extracted(*block, half, count, room), i - half, item, parts);
  }
  parts[0]->TakePlaceOf(*block);
  Block::Free(block);
  return parts;
}

Block* PackIfFitting(std::span<const BlockItem> items, bool tagged) {
  assert(!items.empty());
  if (items.size() > Block::kMaxCount) return nullptr;
  const BlockPlan plan = PlanBlock(items, tagged);
  return Fits(items, plan) ? BlockBuilder::Pack(items, plan) : nullptr;
}

// If the items are too many, counts how many fit in the tightest format for all. In their own
// tightest format these take no more bytes.
Block* PackFull(std::span<const BlockItem> items, BlockSide side) {
  assert(!items.empty());
  const bool from_last = side == BlockSide::kLast;
  const auto take = [&](size_t count) {
    items = from_last ? items.last(count) : items.first(count);
  };
  take(std::min(items.size(), Block::kMaxCount));
  BlockPlan plan = PlanBlock(items, true);
  const size_t most = MostBytesFor(items, plan);
  if (BytesOf(plan) > most) {
    const auto item = [&](size_t i) { return items[from_last ? items.size() - 1 - i : i]; };
    size_t bytes = Block::kHeaderBytes + plan.format.prefix_length, count = 0;
    const size_t each = PayloadBytes(items) > 0 ? PayloadColumn::Bytes(1, 0) : 0;
    const auto bytes_of = [&](const BlockItem& one) {
      return plan.format.BytesOf(one) + each + one.payload().size();
    };
    while ((bytes += bytes_of(item(count))) <= most) ++count;
    take(count);
    plan = PlanBlock(items, true);
  }
  assert(BytesOf(plan) <= most);
  return BlockBuilder::Pack(items, plan);
}

std::vector<Block*> PackAll(std::span<const BlockItem> items, bool tagged) {
  assert(!items.empty());
  std::vector<Block*> blocks;
  PackHalves(items, tagged, blocks);
  return blocks;
}

bool MayMerge(const Block& left, const Block& right) {
  const size_t count = left.count() + right.count(), bytes = UsedBytes(left) + UsedBytes(right);
  const bool has_payloads = left.has_payloads() || right.has_payloads();
  return count <= kMergedCount && bytes <= MostMergedBytes(count, bytes, has_payloads);
}

Block* Merge(const Block& left, const Block& right) {
  UnpackedBlock unpacked(left);
  unpacked.Append(right);
  const std::span<const BlockItem> items = unpacked.items();
  const BlockPlan plan = PlanBlock(items, left.tagged());
  const size_t bytes = BytesOf(plan);
  const size_t most = MostMergedBytes(items.size(), bytes, PayloadBytes(items) > 0);
  return bytes > most ? nullptr : BlockBuilder::Pack(items, plan);
}

}  // namespace zsetd
