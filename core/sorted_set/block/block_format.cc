#include "core/sorted_set/block/block_format.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "core/util/numeral.h"

namespace zsetd {
namespace {

using Members = BlockFormat::Members;

size_t CommonPrefix(std::string_view a, std::string_view b) {
  return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
         a.begin();
}

void PlanScores(std::span<const BlockItem> items, BlockFormat& format) {
  uint64_t differing = 0;
  for (const BlockItem& item : items) differing |= item.code ^ items[0].code;
  const auto frame = ScoreFrame::Covering(items.front().code, items.back().code, differing);
  format.score_base = frame.base;
  format.score_shift = frame.shift;
  format.score_width = frame.width;
}

// As bytes behind the longest shared prefix. Returns the bytes it takes, tags left out.
size_t PlanBytes(std::span<const BlockItem> items, BlockFormat& format) {
  std::string_view prefix;
  size_t inline_count = 0, inline_bytes = 0, shortest = kMaxInlineMember, longest = 0;
  for (const BlockItem& item : items) {
    if (item.large) continue;
    prefix =
        inline_count++ == 0 ? item.member : prefix.substr(0, CommonPrefix(prefix, item.member));
    shortest = std::min(shortest, item.member.size());
    longest = std::max(longest, item.member.size());
    inline_bytes += item.member.size();
  }
  format.prefix_length = prefix.size();
  const size_t bytes = prefix.size() + inline_bytes - inline_count * prefix.size() +
                       items.size() * format.score_width;
  if (inline_count == items.size() && shortest == longest) {
    format.members = Members::kSameLength;
    format.member_width = longest - prefix.size();
    return bytes;
  }
  format.members = Members::kLengths;
  return bytes + items.size() + (items.size() - inline_count) * sizeof(LargeMember*);
}

// Puts the numbers, the highest of which is at that distance, into the lowest bits of the packed
// scores, if that takes fewer bytes. Bits left over are for scores and numbers to come.
void ShareBytes(std::span<const BlockItem> items, uint64_t highest, BlockFormat& format) {
  const int number_bits = std::bit_width(highest);
  const int score_bits = std::bit_width(format.frame().StepsUp(items.back().code));
  const int width = BytesForBits(number_bits + score_bits);
  if (number_bits == 0 || width > 8 || width >= format.score_width + format.member_width) return;
  format.number_bits = number_bits + (8 * width - number_bits - score_bits) / 2;
  format.score_width = width;
  format.member_width = 0;
}

// As numerals, if all members are: the same bytes and then digits, written in one of the two ways.
// Returns the bytes it takes, tags left out.
std::optional<size_t> PlanNumerals(std::span<const BlockItem> items, BlockFormat& format) {
  const std::string_view first = items[0].member;
  const size_t tail = TrailingDigits(first);
  const std::string_view head = first.substr(0, first.size() - tail);
  bool shortest = true, padded = true;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  for (const BlockItem& item : items) {
    if (item.large || !item.member.starts_with(head)) return std::nullopt;
    const std::string_view text = item.member.substr(head.size());
    const auto number = ParseNumeral(text, std::min<size_t>(text.size(), kMaxNumeralDigits + 1));
    if (!number) return std::nullopt;
    shortest = shortest && (text[0] != '0' || text.size() == 1);
    padded = padded && text.size() == tail;
    lowest = std::min(lowest, *number);
    highest = std::max(highest, *number);
  }
  if (!shortest && !padded) return std::nullopt;
  format.members = Members::kNumerals;
  format.prefix_length = head.size();
  format.digits = shortest ? kShortest : tail;
  format.number_base = lowest;
  format.member_width = PackedWidth(highest - lowest);
  ShareBytes(items, highest - lowest, format);
  return head.size() + items.size() * (format.score_width + format.member_width);
}

}  // namespace

BlockPlan PlanBlock(std::span<const BlockItem> items, bool tagged) {
  BlockFormat format;
  format.tagged = tagged;
  PlanScores(items, format);
  BlockFormat numerals = format;
  const size_t tag_bytes = tagged ? items.size() : 0, bytes = PlanBytes(items, format);
  const auto numeral_bytes = PlanNumerals(items, numerals);
  if (numeral_bytes && *numeral_bytes <= bytes) return {numerals, *numeral_bytes + tag_bytes};
  return {format, bytes + tag_bytes};
}

}  // namespace zsetd
