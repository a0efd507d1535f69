#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/sorted_set/block/deadline_frame.h"
#include "core/sorted_set/block/large_member.h"
#include "core/sorted_set/block/payload_column.h"
#include "core/sorted_set/block/score_encoding.h"
#include "core/util/numeral.h"

namespace zsetd {

// One element on its way into or out of a block.
struct BlockItem {
  uint64_t code = 0;             // of its score
  std::string_view member;       // the whole member
  LargeMember* large = nullptr;  // the owner of a member too long for a block
  uint8_t tag = 0;               // some bits of the member's hash
  uint8_t payload_length = 0;    // of its PackedPayload, as is the next one; here to save padding
  const char* payload_bytes = nullptr;
  uint64_t deadline = kNoDeadline;

  PackedPayload payload() const {
    if (payload_length != PackedPayload::kLarge) return {payload_length, payload_bytes};
    return PackedPayload(reinterpret_cast<const LargeMember*>(payload_bytes));
  }
  void set_payload(const PackedPayload& payload) {
    payload_length = payload.length();
    payload_bytes = payload.bytes();
  }
};

// How the elements of a block are encoded; chosen whenever a block is packed. Without padding,
// because each block contains it.
struct [[gnu::packed]] BlockFormat {
  enum class Members : uint8_t {
    kSameLength,  // the bytes after the prefix, `member_width` of them
    kLengths,     // the bytes after the prefix, with a length byte each
    kNumerals,    // the numeral after the prefix, as its distance from `number_base`
  };

  uint64_t score_base = 0;
  uint64_t number_base = 0;
  uint8_t score_shift : 6 = 0;
  bool has_deadlines : 1 = false;  // an element has a deadline
  bool has_payloads : 1 = false;   // an element has a payload
  uint8_t score_width = 0;         // of a packed score, including a shared number
  Members members : 2 = Members::kSameLength;
  bool tagged : 1 = false;      // each element has a tag
  uint8_t digits : 5 = 0;       // of the numerals, as defined in core/util/numeral.h
  uint8_t number_bits : 7 = 0;  // the lowest bits of a packed score, for the number
  uint8_t member_width = 0;     // packed bytes a member, unless lengths differ
  uint8_t prefix_length = 0;    // of the prefix that all members share

  static_assert(kMaxNumeralDigits < 1 << 5);

  ScoreFrame frame() const { return {score_base, score_shift, score_width, number_bits}; }

  // Whether numbers are stored in the bytes of their scores; then `member_width` is 0.
  bool shares_bytes() const { return number_bits > 0; }
  uint64_t number_mask() const { return (uint64_t{1} << number_bits) - 1; }
  uint64_t number_max() const {  // distance from `number_base`
    return shares_bytes() ? number_mask() : PackedMax(member_width);
  }

  // Whether the block has a column besides those that each element needs.
  bool has_columns() const { return has_deadlines || has_payloads; }

  // The bytes of an item that fits the format, without its deadline and its payload.
  size_t BytesOf(const BlockItem& item) const {
    const size_t front = (tagged ? 1 : 0) + score_width;
    if (members != Members::kLengths) return front + member_width;
    return front + 1 + (item.large ? sizeof(LargeMember*) : item.member.size() - prefix_length);
  }
};

// Longer members become LargeMembers, which have this length byte.
constexpr size_t kMaxInlineMember = 254;
constexpr uint8_t kLargeLength = 255;

// The LargeMember for a member, or null if it fits into a block.
inline LargeMember* MakeLarge(std::string_view member) {
  return member.size() > kMaxInlineMember ? LargeMember::Make(member) : nullptr;
}

// A format and the bytes that the elements take in it, with payloads, but without the block's
// header and deadlines.
struct BlockPlan {
  BlockFormat format;
  size_t bytes = 0;
};

// The bytes of the column of payloads of the items; 0 if none has one.
size_t PayloadBytes(std::span<const BlockItem> items);

// Returns the tightest format for the items. Precondition: they are in order, and at least one.
//
// Whole bytes hold a wider range than the items need, and a block takes elements within this range
// without being packed again. The range begins at the least score and the least number, so that
// elements may rise:
//
//   [ 100 101 .. 110 | unused ................. ]
//
// If the item at `added`, which caused the packing, has the new least score or number, most of the
// unused range lies below it. So elements in descending order cause a few packings of a block, like
// the copies of a growing array, and not one for each element:
//
//   [ unused ............. | 99 100 .. 110 | unused ]
BlockPlan PlanBlock(std::span<const BlockItem> items, bool tagged,
                    std::optional<size_t> added = std::nullopt);

}  // namespace zsetd
