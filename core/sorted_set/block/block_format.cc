#include "core/sorted_set/block/block_format.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/util/numeral.h"

namespace zsetd {
namespace {

using Members = BlockFormat::Members;

size_t CommonPrefix(std::string_view a, std::string_view b) {
  static_assert(std::endian::native == std::endian::little);
  const size_t most = std::min(a.size(), b.size());
  size_t at = 0;
  for (uint64_t words[2]; at + sizeof(words[0]) <= most; at += sizeof(words[0])) {
    std::memcpy(&words[0], a.data() + at, sizeof(words[0]));
    std::memcpy(&words[1], b.data() + at, sizeof(words[1]));
    if (words[0] != words[1]) return at + std::countr_zero(words[0] ^ words[1]) / 8;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

void PlanScores(std::span<const BlockItem> items, BlockFormat& format) {
  uint64_t differing = 0;
  for (const BlockItem& item : items) differing |= item.code ^ items[0].code;
  const auto frame = ScoreFrame::Covering(items.front().code, items.back().code, differing);
  format.score_base = frame.base;
  format.score_shift = frame.shift;
  format.score_width = frame.width;
}

// The part of a frame's unused range that is placed below its least value if values descend. Some
// stays above, for orders that descend only mostly.
uint64_t RoomBelow(uint64_t unused) { return unused - unused / 8; }

void LowerScores(std::span<const BlockItem> items, BlockFormat& format) {
  const ScoreFrame frame = format.frame();
  const uint64_t unused = frame.MostSteps() - frame.StepsUp(items.back().code);
  const uint64_t steps = std::min(RoomBelow(unused), frame.base >> frame.shift);
  format.score_base -= steps << frame.shift;
}

// `number_base` is the least number so far, and the highest is at that distance.
void LowerNumbers(uint64_t highest, BlockFormat& format) {
  const uint64_t unused = format.number_max() - highest;
  format.number_base -= std::min<uint64_t>(RoomBelow(unused), format.number_base);
}

// Plans members as bytes after the longest shared prefix. Returns the bytes needed, without tags.
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

// Puts the numbers, up to `highest`, into the lowest bits of the packed scores if that takes fewer
// bytes. Remaining bits are for future scores and numbers.
void ShareBytes(std::span<const BlockItem> items, uint64_t highest, BlockFormat& format) {
  const int number_bits = std::bit_width(highest);
  const int score_bits = std::bit_width(format.frame().StepsUp(items.back().code));
  const int width = BytesForBits(number_bits + score_bits);
  if (number_bits == 0 || width > 8 || width >= format.score_width + format.member_width) return;
  format.number_bits = number_bits + (8 * width - number_bits - score_bits) / 2;
  format.score_width = width;
  format.member_width = 0;
}

// Plans members as numerals, if all members have the same bytes followed by digits in the same
// spelling. Returns the bytes needed, without tags.
std::optional<size_t> PlanNumerals(std::span<const BlockItem> items, std::optional<size_t> added,
                                   BlockFormat& format) {
  const std::string_view first = items[0].member;
  const size_t tail = TrailingDigits(first);
  const std::string_view head = first.substr(0, first.size() - tail);
  bool shortest = true, padded = true;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  size_t lowest_at = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const BlockItem& item = items[i];
    if (item.large || !item.member.starts_with(head)) return std::nullopt;
    const std::string_view text = item.member.substr(head.size());
    const auto number = ParseNumeral(text, std::min<size_t>(text.size(), kMaxNumeralDigits + 1));
    if (!number) return std::nullopt;
    shortest = shortest && (text[0] != '0' || text.size() == 1);
    padded = padded && text.size() == tail;
    if (*number < lowest) {
      lowest = *number;
      lowest_at = i;
    }
    highest = std::max(highest, *number);
  }
  if (!shortest && !padded) return std::nullopt;
  format.members = Members::kNumerals;
  format.prefix_length = head.size();
  format.digits = shortest ? kShortest : tail;
  format.number_base = lowest;
  format.member_width = PackedWidth(highest - lowest);
  ShareBytes(items, highest - lowest, format);
  if (lowest_at == added) LowerNumbers(highest - lowest, format);
  return head.size() + items.size() * (format.score_width + format.member_width);
}

}  // namespace

size_t PayloadBytes(std::span<const BlockItem> items) {
  size_t total = 0;
  for (const BlockItem& item : items) {
    if (item.payload_length > 0) [[unlikely]]
      total += item.payload().size();
  }
  return total == 0 ? 0 : PayloadColumn::Bytes(items.size(), total);
}

BlockPlan PlanBlock(std::span<const BlockItem> items, bool tagged, std::optional<size_t> added) {
  BlockFormat format;
  format.tagged = tagged;
  PlanScores(items, format);
  BlockFormat numerals = format;
  const size_t tag_bytes = tagged ? items.size() : 0, bytes = PlanBytes(items, format);
  const size_t other_bytes = tag_bytes + PayloadBytes(items);
  const auto numeral_bytes = PlanNumerals(items, added, numerals);
  const bool as_numerals = numeral_bytes && *numeral_bytes <= bytes;
  BlockPlan plan = as_numerals ? BlockPlan{numerals, *numeral_bytes + other_bytes}
                               : BlockPlan{format, bytes + other_bytes};
  if (added == 0) LowerScores(items, plan.format);
  return plan;
}

}  // namespace zsetd
