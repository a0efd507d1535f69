#include "core/sorted_set/block/block_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <new>

#include "core/util/allocation.h"
#include "core/util/copy_bytes.h"
#include "core/util/numeral.h"

namespace zsetd {

Block* BlockBuilder::Allocate(size_t bytes, const BlockFormat& format, size_t count) {
  void* memory = ::operator new(std::max(bytes, sizeof(Block)));
  Block* block = new (memory) Block(format, count);
  block->capacity_ = AllocatedBytes(memory);
  assert(block->capacity_ == AllocatedBytes(memory));
  return block;
}

namespace {

// The deadlines of a block that is being built.
class CollectedDeadlines {
 public:
  void Add(uint64_t deadline) {
    deadlines_[count_++] = deadline;
    has_any_ = has_any_ || deadline != kNoDeadline;
  }
  size_t bytes() const {
    if (!has_any_) return 0;
    return DeadlineColumn::Bytes(DeadlineFrame::Covering(all()), count_);
  }
  std::span<const uint64_t> all() const { return {deadlines_.data(), count_}; }

 private:
  std::array<uint64_t, Block::kMaxCount> deadlines_;
  size_t count_ = 0;
  bool has_any_ = false;
};

}  // namespace

// Precondition: the block has room for them.
void BlockBuilder::WriteDeadlines(Block& block, std::span<const uint64_t> deadlines) {
  block.WriteDeadlines(deadlines, DeadlineFrame::Covering(deadlines));
}

// Precondition: the block has room for them, and a payload exists.
void BlockBuilder::WritePayloads(Block& block, std::span<const BlockItem> items) {
  PayloadColumn payloads = block.Payloads();
  payloads.Clear(items.size());
  block.format_.has_payloads = true;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].payload_length > 0) payloads.Set(i, items.size(), items[i].payload());
  }
}

// All members that the block stores as bytes begin with the prefix.
Block* BlockBuilder::Pack(std::span<const BlockItem> items, const BlockPlan& plan) {
  assert(!items.empty() && items.size() <= Block::kMaxCount);
  CollectedDeadlines deadlines;
  for (const BlockItem& item : items) deadlines.Add(item.deadline);
  const size_t deadline_bytes = deadlines.bytes();
  Block* block =
      Allocate(Block::kHeaderBytes + plan.bytes + deadline_bytes, plan.format, items.size());
  const size_t prefix_length = plan.format.prefix_length;
  for (const BlockItem& item : items) {
    if (item.large != nullptr) continue;
    CopyBytes(Block::Mutable(block->Data()), item.member.data(), prefix_length);
    break;
  }
  char* at = Block::Mutable(block->End());
  for (size_t i = 0; i < items.size(); ++i) {
    const Block::PackedMember packed = *block->PackedFormOf(items[i].member, items[i].large);
    const size_t length = block->LengthOf(packed);
    if (block->tagged()) Block::Mutable(block->Tags())[i] = static_cast<char>(items[i].tag);
    if (block->HasLengths()) {
      Block::Mutable(block->Lengths())[i] =
          static_cast<char>(packed.is_large ? kLargeLength : length);
    }
    const uint64_t score = block->PackedScore(items[i].code, packed);
    StorePacked(Block::Mutable(block->ScorePlace(i)), plan.format.score_width, score);
    block->Write(at -= length, packed);
  }
  if (deadline_bytes > 0) WriteDeadlines(*block, deadlines.all());
  if (PayloadBytes(items) > 0) [[unlikely]]
    WritePayloads(*block, items);
  return block;
}

Block* BlockBuilder::Copied(const Block& block, size_t room) {
  const size_t front_bytes = block.FrontEnd() - block.Data();
  const size_t member_bytes = block.MemberBytes(block.count_);
  const size_t bytes = Block::kHeaderBytes + front_bytes + member_bytes + room;
  Block* copy = Allocate(bytes, block.format_, block.count_);
  copy->TakePlaceOf(block);
  CopyBytes(Block::Mutable(copy->Data()), block.Data(), front_bytes);
  CopyBytes(Block::Mutable(copy->End()) - member_bytes, block.End() - member_bytes, member_bytes);
  return copy;
}

Block* BlockBuilder::Moved(Block* block, size_t room) {
  Block* moved = Copied(*block, room);
  Block::Free(block);
  return moved;
}

Block* BlockBuilder::Clone(const Block& block) {
  Block* clone = Copied(block, 0);
  for (size_t i = 0; clone->HasLengths() && i < clone->count_; ++i) {
    const LargeMember* shared = clone->LargeAt(i);
    if (shared == nullptr) continue;
    LargeMember* own = LargeMember::Make(shared->view());
    CopyBytes(Block::Mutable(clone->MemberPlace(i)), &own, sizeof(own));
  }
  for (size_t i = 0; clone->has_payloads() && i < clone->count_; ++i) {
    const LargeMember* shared = clone->PayloadAt(i).large();
    if (shared == nullptr) continue;
    clone->SetPayload(i, PackedPayload(LargeMember::Make(shared->view())));
  }
  return clone;
}

Block* BlockBuilder::Part(const Block& block, size_t first, size_t last, size_t room) {
  assert(first < last && last <= block.count_);
  const size_t count = last - first, width = block.format_.score_width;
  const size_t before = block.MemberBytes(first), bytes = block.MemberBytes(last) - before;
  const size_t front = block.format_.prefix_length +
                       count * (width + (block.tagged() ? 1 : 0) + (block.HasLengths() ? 1 : 0));
  CollectedDeadlines deadlines;
  for (size_t i = first; block.has_deadlines() && i < last; ++i) {
    deadlines.Add(block.DeadlineAt(i));
  }
  const size_t deadline_bytes = deadlines.bytes();
  BlockFormat format = block.format_;
  format.has_deadlines = format.has_payloads = false;
  const size_t payloads = block.has_payloads() ? block.Payloads().SumOf(first, last) : 0;
  const size_t payload_bytes = payloads > 0 ? PayloadColumn::Bytes(count, payloads) : 0;
  const size_t columns = deadline_bytes + payload_bytes;
  Block* part = Allocate(Block::kHeaderBytes + front + columns + bytes + room, format, count);
  const std::string_view prefix = block.Prefix();
  CopyBytes(Block::Mutable(part->Data()), prefix.data(), prefix.size());
  if (block.tagged()) CopyBytes(Block::Mutable(part->Tags()), block.Tags() + first, count);
  if (block.HasLengths()) {
    CopyBytes(Block::Mutable(part->Lengths()), block.Lengths() + first, count);
  }
  CopyBytes(Block::Mutable(part->Scores()), block.Scores() + first * width, count * width);
  CopyBytes(Block::Mutable(part->End()) - bytes, block.End() - before - bytes, bytes);
  if (deadline_bytes > 0) WriteDeadlines(*part, deadlines.all());
  if (payload_bytes > 0) {
    part->Payloads().CopyOf(block.Payloads(), first, last, block.count_);
    part->format_.has_payloads = true;
  }
  return part;
}

bool BlockBuilder::IsTight(const Block& block) {
  if (block.format_.members == BlockFormat::Members::kNumerals) return NumbersAreTight(block);
  return BytesForBits(ScoreBits(block)) == block.format_.score_width && BytesAreTight(block);
}

// The number of bits that ScoreFrame::Covering() would find for the scores.
int BlockBuilder::ScoreBits(const Block& block) {
  const auto steps = [&](size_t i) { return block.PackedScoreAt(i) >> block.format_.number_bits; };
  const uint64_t lowest = steps(0), range = steps(block.count_ - 1) - lowest;
  uint64_t differing = 0;
  for (size_t i = 1; i < block.count_ && (differing & 1) == 0; ++i) differing |= steps(i) ^ lowest;
  return differing == 0 ? 0 : std::bit_width(range >> std::countr_zero(differing));
}

// If lengths differ, a few long numerals among many short ones would take less as bytes. If the
// prefix ends in digits, a shorter prefix might make the members shorter.
bool BlockBuilder::NumbersAreTight(const Block& block) {
  if (!block.Prefix().empty() && IsDigit(block.Prefix().back())) return false;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  for (size_t i = 0; i < block.count_; ++i) {
    const uint64_t number = block.NumberAt(i);
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
  }
  const int number_bits = std::bit_width(highest - lowest), score_bits = ScoreBits(block);
  const int apart = BytesForBits(number_bits) + BytesForBits(score_bits);
  const int together = BytesForBits(number_bits + score_bits);
  const int least = together > 8 ? apart : std::min(apart, together);
  const auto size = [&](uint64_t number) { return NumeralSize(number, block.format_.digits); };
  const bool may_be_bytes = least - BytesForBits(score_bits) > 2 && size(lowest) != size(highest);
  return !may_be_bytes && least == block.format_.score_width + block.format_.member_width;
}

// They are not if a longer prefix may be shared, if all lengths may be the same, or if all members
// may be numerals. In most blocks of bytes the first few members rule this out.
bool BlockBuilder::BytesAreTight(const Block& block) {
  bool longer_prefix = true, same_length = block.HasLengths(), numerals = true;
  const char* start = nullptr;  // of the first that is not large
  const char* at = block.End();
  for (size_t i = 0; i < block.count_ && (longer_prefix || same_length || numerals); ++i) {
    const size_t length = block.MemberLength(i);
    at -= length;
    same_length = same_length && length == block.MemberLength(0);
    if (block.HasLengths() && block.Lengths()[i] == kLargeLength) {
      same_length = numerals = false;
      continue;
    }
    if (start == nullptr) start = at;
    longer_prefix = longer_prefix && length > 0 && *at == *start;
    numerals = numerals && (length == 0 || IsDigit(at[length - 1]));
  }
  return !longer_prefix && !same_length && !numerals;
}

}  // namespace zsetd
