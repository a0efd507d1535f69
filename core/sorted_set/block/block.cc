#include "core/sorted_set/block/block.h"

#include <cassert>

#include "core/sorted_set/block/block_bytes.h"
#include "core/util/numeral.h"

namespace zsetd {

LargeMember* Block::LargeAt(size_t i) const {
  if (!HasLengths() || Lengths()[i] != kLargeLength) return nullptr;
  LargeMember* large;
  Copy(&large, MemberPlace(i), sizeof(large));
  return large;
}

std::string_view Block::Assemble(size_t i, MemberBuffer& buffer) const {
  if (const LargeMember* large = LargeAt(i)) return large->view();
  const char* at = MemberPlace(i);
  const size_t length = MemberLength(i);
  const std::string_view prefix = Prefix();
  const bool is_numeral = format_.members == Members::kNumerals;
  if (prefix.empty() && !is_numeral) return {at, length};

  Copy(buffer.data(), prefix.data(), prefix.size());
  char* tail = buffer.data() + prefix.size();
  if (is_numeral) {
    return {buffer.data(), WriteNumeral(tail, NumberAt(i), format_.digits)};
  }
  Copy(tail, at, length);
  return {buffer.data(), prefix.size() + length};
}

std::optional<Block::PackedMember> Block::PackedFormOf(std::string_view member,
                                                       LargeMember* large) const {
  PackedMember packed;
  if (member.size() > kMaxInlineMember) {
    packed.large = large;
    packed.is_large = true;
    return HasLengths() ? std::optional(packed) : std::nullopt;
  }
  if (!member.starts_with(Prefix())) return std::nullopt;
  packed.bytes = member.substr(format_.prefix_length);
  switch (format_.members) {
    case Members::kSameLength:
      return packed.bytes.size() == format_.member_width ? std::optional(packed) : std::nullopt;
    case Members::kLengths:
      return packed;
    case Members::kNumerals:
      break;
  }
  const auto number = ParseNumeral(packed.bytes, format_.digits);
  if (!number || *number < format_.number_base) return std::nullopt;
  packed.number = *number - format_.number_base;
  return packed.number <= format_.number_max() ? std::optional(packed) : std::nullopt;
}

void Block::Write(char* at, const PackedMember& member) const {
  if (member.is_large) {
    Copy(at, &member.large, sizeof(member.large));
  } else if (format_.members == Members::kNumerals) {
    StorePacked(at, format_.member_width, member.number);
  } else {
    Copy(at, member.bytes.data(), member.bytes.size());
  }
}

Block* Block::Pack(std::span<const BlockItem> items, const BlockPlan& plan) {
  assert(!items.empty() && items.size() <= kMaxCount);
  Block* block = Allocate(kHeaderBytes + plan.bytes, plan.format, items.size());
  const size_t prefix_length = plan.format.prefix_length;
  for (const BlockItem& item : items) {
    if (!item.large) Copy(Mutable(block->Prefix().data()), item.member.data(), prefix_length);
    if (!item.large) break;
  }
  char* at = Mutable(block->End());
  for (size_t i = 0; i < items.size(); ++i) {
    const PackedMember packed = *block->PackedFormOf(items[i].member, items[i].large);
    const size_t length = block->LengthOf(packed);
    if (block->tagged()) Mutable(block->Tags())[i] = static_cast<char>(items[i].tag);
    if (block->HasLengths()) {
      Mutable(block->Lengths())[i] = static_cast<char>(packed.is_large ? kLargeLength : length);
    }
    const uint64_t score = block->PackedScore(items[i].code, packed);
    StorePacked(Mutable(block->ScorePlace(i)), plan.format.score_width, score);
    block->Write(at -= length, packed);
  }
  return block;
}

size_t Block::LowerBound(uint64_t code) const {
  const ScoreFrame frame = format_.frame();
  if (code <= frame.base) return 0;
  const uint64_t steps = frame.StepsUp(code);
  if (steps > frame.MostSteps()) return count_;
  const uint64_t wanted = steps << frame.below;
  const char* scores = Scores();
  size_t first = 0;
  for (size_t left = count_; left > 0;) {
    const size_t half = left / 2;
    const bool before = LoadPacked(scores + (first + half) * frame.width, frame.width) < wanted;
    first = before ? first + half + 1 : first;
    left = before ? left - half - 1 : half;
  }
  return first;
}

size_t Block::LowerBound(uint64_t code, std::string_view member) const {
  size_t first = LowerBound(code);
  if (first == count_ || CodeAt(first) != code) return first;
  MemberBuffer buffer;
  for (size_t left = LowerBound(code + 1) - first; left > 0;) {
    const size_t half = left / 2;
    const bool before = MemberAt(first + half, buffer) < member;
    first = before ? first + half + 1 : first;
    left = before ? left - half - 1 : half;
  }
  return first;
}

}  // namespace zsetd
