#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/sorted_set/block/block_format.h"
#include "core/sorted_set/block/block_layout.h"
#include "core/util/byte_scan.h"
#include "core/util/numeral.h"

namespace zsetd {

// A buffer for a member that the block does not store verbatim and must assemble.
using MemberBuffer = std::array<char, kMaxInlineMember + kMaxNumeralDigits + 1>;

// Up to 160 elements, in order, packed into one allocation; block_layout.h has the drawing.
//
// The prefix that all members share is stored once. Scores are integers of `score_width` bytes
// (core/sorted_set/block/score_encoding.h), so a binary search reads them in place. If the lengths
// of members differ, each has a length byte, and the place of a member is a sum. Members that are
// decimal numerals are stored as integers too.
//
//   "user:0731" 5.0,  "user:0015" 6.0,  "user:0804" 7.0
//       prefix "user:"  digits 4  number base 15     members 716, 0, 789 in two bytes each
//                                                    scores  0, 1, 2 in one byte each
//
// Such an integer is stored in the lowest bits of its score if both together take fewer bytes that
// way:
//
//   score  [ 17 bits ......... ] [ number 30 bits .................. ]     six bytes, not 3 + 4
//
// IDs of nine digits with the seconds of a day need this many bytes.
//
// A block holds the elements that fit its format. For any other element, the block is unpacked and
// packed again, possibly into several blocks (block_packing.h). The owner of a block owns its
// LargeMembers.
//
// Invariants: at least one element, strictly ascending by (code, member); every element is returned
// byte for byte as it was added.
class Block : public BlockLayout {
  friend class BlockBuilder;
  friend class BlockReader;

 public:
  // With 128, blocks of 20-byte members and timestamps filled only nine tenths of their allocation.
  static constexpr size_t kMaxCount = 160;
  static constexpr size_t kMaxBytes = 4096;
  static constexpr size_t kMaxBytesWithPayloads = 16384;

  static void Free(Block* block);  // does not free LargeMembers

  uint64_t CodeAt(size_t i) const {
    assert(i < count_);
    return format_.frame().Unpack(PackedScoreAt(i));
  }

  // The member's bytes, in the block or in `buffer`.
  std::string_view MemberAt(size_t i, MemberBuffer& buffer) const {
    assert(i < count_);
    const size_t width = format_.member_width;
    if (format_.members != Members::kSameLength || format_.prefix_length > 0) {
      return Assemble(i, buffer);
    }
    return {End() - (i + 1) * width, width};
  }
  LargeMember* LargeAt(size_t i) const;  // or null

  // The payload of an element, if it has one. O(i).
  PackedPayload PayloadAt(size_t i) const {
    assert(i < count_);
    return has_payloads() ? Payloads().At(i, count_) : PackedPayload();
  }

  // Calls visit(LargeMember*) for each of the members and payloads of the elements from `first` to
  // before `last` that have an allocation of their own.
  template <class Visit>
  void ForEachLarge(size_t first, size_t last, Visit visit) const {
    for (size_t i = first; HasLengths() && i < last; ++i) {
      if (LargeMember* large = LargeAt(i)) visit(large);
    }
    for (size_t i = first; has_payloads() && i < last; ++i) {
      if (Payloads().IsLarge(i)) visit(PayloadAt(i).large());
    }
  }
  size_t LargeMemberBytes() const;  // allocated by its LargeMembers
  void FreeLargeMembers();

#ifndef NDEBUG
  // A checksum of all bytes that define the elements. O(bytes).
  uint64_t Checksum() const;
#endif

  uint8_t TagAt(size_t i) const { return tagged() ? Tags()[i] : 0; }
  BlockItem ItemAt(size_t i, MemberBuffer& buffer) const {
    BlockItem item = {CodeAt(i), MemberAt(i, buffer), LargeAt(i), TagAt(i)};
    if (format_.has_columns()) [[unlikely]] {
      item.deadline = DeadlineAt(i);
      item.set_payload(PayloadAt(i));
    }
    return item;
  }
  uint64_t DeadlineAt(size_t i) const {  // or kNoDeadline
    assert(i < count_);
    return has_deadlines() ? Deadlines().Deadline(i) : kNoDeadline;
  }
  // The earliest of the elements from `first` to before `last`, or of all; or kNoDeadline.
  uint64_t EarliestDeadline(size_t first, size_t last) const {  // O(last - first)
    assert(first <= last && last <= count_);
    return has_deadlines() ? Deadlines().Earliest(first, last) : kNoDeadline;
  }
  uint64_t EarliestDeadline() const { return EarliestDeadline(0, count_); }

  // The index of the member, or count() if it is not in the block. If the block is tagged, `tag` is
  // the member's tag, which saves most comparisons.
  size_t Find(std::string_view member, uint8_t tag) const;

  // Calls visit(i) for each element with that tag, in order, until it returns true. Returns whether
  // it did. Precondition: the block is tagged.
  template <class Visit>
  bool FindTag(uint8_t tag, Visit visit) const {
    assert(tagged());
    return FindByte(Tags(), count_, tag, visit);
  }

  // The number of elements that precede (code, member).
  size_t LowerBound(uint64_t code, std::string_view member) const;

  // Inserts the item at `i`, its place in the order, if the format and the free bytes allow it.
  // Ignores the item's deadline. After kOtherFormat or kNoRoom the block is unchanged.
  enum class Insertion { kDone, kNoRoom, kOtherFormat };
  Insertion Insert(size_t i, const BlockItem& item);

  // The bytes that an item takes if it fits the format, with its payload, and the bytes that it
  // adds to the column of deadlines.
  size_t RoomFor(const BlockItem& item) const {
    return format_.BytesOf(item) + RoomForPayload(item);
  }
  size_t RoomForDeadline() const {
    return has_deadlines() ? Deadlines().Bytes(count_ + 1) - Deadlines().Bytes(count_) : 0;
  }

  // Erases the elements from `first` to before `last`, at least one and not all. The caller frees
  // their LargeMembers.
  void Erase(size_t first, size_t last);

  // Changes a score in place. Returns false if the format cannot hold it. The order must not
  // change.
  bool SetCode(size_t i, uint64_t code);

  // Sets or, with kNoDeadline, removes a deadline. Returns 0, or the number of missing free bytes
  // if nothing was changed. O(count).
  size_t SetDeadline(size_t i, uint64_t deadline);

  // Sets, replaces or removes a payload. Returns 0, or the number of missing free bytes if nothing
  // was changed. The caller frees the LargeMember of the old one. The bytes of a short payload are
  // not in this block. O(bytes).
  size_t SetPayload(size_t i, const PackedPayload& payload);

  // Prefetch what a search will read.
  void Prefetch() const;
  void PrefetchTags() const;
  void PrefetchMember(uint8_t tag) const;   // all members with that tag; reads the tags
  void PrefetchElement(uint8_t tag) const;  // and the scores
  void PrefetchBehind(size_t i) const;      // the bytes that a change at `i` moves

 private:
  // A member in the form in which this block would store it.
  struct PackedMember {
    std::string_view bytes;        // after the prefix
    uint64_t number = 0;           // or its distance from number_base
    LargeMember* large = nullptr;  // or its owner; null in a search
    bool is_large = false;
  };

  using BlockLayout::BlockLayout;

  void WriteDeadlines(std::span<const uint64_t> deadlines, const DeadlineFrame& frame);
  void DropUnusedDeadlines();
  void InsertIntoColumns(size_t i, size_t shift);
  void EraseFromColumns(char* column, size_t first, size_t last);
  size_t RoomForPayload(const BlockItem& item) const {
    if (!has_payloads() && item.payload_length == 0) [[likely]]
      return 0;
    const size_t bytes = item.payload().size();
    return has_payloads() ? 1 + bytes : PayloadColumn::Bytes(count_ + 1, bytes);
  }
  void PrefetchMember(size_t i) const;
  size_t LengthOf(const PackedMember& member) const {
    if (!HasLengths()) return format_.member_width;
    return member.is_large ? sizeof(LargeMember*) : member.bytes.size();
  }

  std::string_view Assemble(size_t i, MemberBuffer& buffer) const;
  std::optional<PackedMember> PackedFormOf(std::string_view member, LargeMember* large) const;
  template <class Is>
  size_t FindWhere(uint8_t tag, Is is) const;
  template <class Is>
  size_t FindUntagged(Is is) const;
  void Write(char* at, const PackedMember& member) const;
  uint64_t PackedScore(uint64_t code, const PackedMember& member) const {
    return format_.frame().Pack(code) | (member.number & format_.number_mask());
  }
  size_t LowerBound(uint64_t code) const;
  std::optional<uint64_t> OrderedNumber(std::string_view member) const;
};
static_assert(Block::kMaxCount <= UINT8_MAX);
static_assert(sizeof(Block) == sizeof(BlockLayout));

// The position of an element, if it exists; valid until its block changes. (Not a std::optional:
// g++ 12 writes a returned std::optional byte by byte and reads it as words, which stalls; see
// ScoreMiss in bench/sorted_set.)
struct BlockPlace {
  const Block* block = nullptr;
  size_t index = 0;

  explicit operator bool() const { return block != nullptr; }
  uint64_t code() const { return block->CodeAt(index); }
};

}  // namespace zsetd
