// Parts of a block as blocks of their own. Where packing anew would find no tighter format, the
// bytes are copied as they are, which takes 2 us off the division of a full block: an insertion
// into a set of a thousand takes 222 ns instead of 250.

#include <algorithm>
#include <bit>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_bytes.h"
#include "core/util/numeral.h"

namespace zsetd {

Block* Block::Part(const Block& block, size_t first, size_t last, size_t room) {
  const size_t count = last - first, width = block.format_.score_width;
  const size_t before = block.MemberBytes(first), bytes = block.MemberBytes(last) - before;
  const size_t front = block.format_.prefix_length +
                       count * (width + (block.tagged() ? 1 : 0) + (block.HasLengths() ? 1 : 0));
  Block* part = Allocate(kHeaderBytes + front + bytes + room, block.format_, count);
  const std::string_view prefix = block.Prefix();
  Copy(Mutable(part->Data()), prefix.data(), prefix.size());
  if (block.tagged()) Copy(Mutable(part->Tags()), block.Tags() + first, count);
  if (block.HasLengths()) Copy(Mutable(part->Lengths()), block.Lengths() + first, count);
  Copy(Mutable(part->Scores()), block.Scores() + first * width, count * width);
  Copy(Mutable(part->End()) - bytes, block.End() - before - bytes, bytes);
  return part;
}

bool Block::IsTight() const {
  if (format_.members == Members::kNumerals) return NumbersAreTight();
  return BytesForBits(ScoreBits()) == format_.score_width && BytesAreTight();
}

// What ScoreFrame::Covering would find that the scores need; it sees these numbers shifted.
int Block::ScoreBits() const {
  const auto steps = [&](size_t i) { return PackedScoreAt(i) >> format_.number_bits; };
  const uint64_t lowest = steps(0), range = steps(count_ - 1) - lowest;
  uint64_t differing = 0;
  for (size_t i = 1; i < count_ && (differing & 1) == 0; ++i) differing |= steps(i) ^ lowest;
  return differing == 0 ? 0 : std::bit_width(range >> std::countr_zero(differing));
}

// Where lengths differ, few long numerals among many short ones would take less as bytes. Where the
// prefix ends in digits, others of them might do so with these members.
bool Block::NumbersAreTight() const {
  if (!Prefix().empty() && IsDigit(Prefix().back())) return false;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  for (size_t i = 0; i < count_; ++i) {
    const uint64_t number = NumberAt(i);
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
  }
  const int number_bits = std::bit_width(highest - lowest), score_bits = ScoreBits();
  const int apart = BytesForBits(number_bits) + BytesForBits(score_bits);
  const int together = BytesForBits(number_bits + score_bits);
  const int least = together > 8 ? apart : std::min(apart, together);
  const auto size = [&](uint64_t number) { return NumeralSize(number, format_.digits); };
  const bool may_be_bytes = least - BytesForBits(score_bits) > 2 && size(lowest) != size(highest);
  return !may_be_bytes && least == format_.score_width + format_.member_width;
}

// They are not if the prefix may grow, the lengths vanish, or all members be numerals. Most blocks
// of bytes show with the first few that none of that is so.
bool Block::BytesAreTight() const {
  bool longer_prefix = true, same_length = HasLengths(), numerals = true;
  const char* start = nullptr;  // of the first that is not large
  const char* at = End();
  for (size_t i = 0; i < count_ && (longer_prefix || same_length || numerals); ++i) {
    const size_t length = MemberLength(i);
    at -= length;
    same_length = same_length && length == MemberLength(0);
    if (HasLengths() && Lengths()[i] == kLargeLength) {
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
