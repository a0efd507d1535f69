#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/sorted_set/block/block_format.h"
#include "core/sorted_set/block/deadline_column.h"
#include "core/sorted_set/block/large_member.h"
#include "core/sorted_set/block/payload_column.h"
#include "core/util/byte_scan.h"
#include "core/util/packed_integer.h"

namespace zsetd {

// The bytes of a block, in one allocation, and where each of its fields is:
//
//   header | prefix | tags | lengths | scores | deadlines | payloads -->   free   <-- members | end
//                     t0 t1  l0 l1     s0 s1    d0 d1       p0 p1                       m1 m0
//
// It has no pointer and no offset per element. Each array at the front has one field per element.
// Tags and lengths exist if the format has them. Deadlines and payloads exist if an element has one
// (core/sorted_set/block/deadline_column.h and payload_column.h). Members are stored in order from
// the end downwards, so that appending a member moves no other one.
//
// Invariant: the front and the members do not overlap. Block defines the invariants of their
// contents.
class BlockLayout {
 public:
  // Without padding, because each byte counts. A recency list of 30 has 31 elements at times; with
  // five or six bytes each, these take 192 or 223 bytes. With a larger header, in allocations of
  // 224 and 256, such lists took a tenth more.
  static constexpr size_t kHeaderBytes = 15 + sizeof(BlockFormat);

  BlockLayout(const BlockLayout&) = delete;
  BlockLayout& operator=(const BlockLayout&) = delete;

  size_t count() const { return count_; }
  bool tagged() const { return format_.tagged; }
  bool has_deadlines() const { return format_.has_deadlines; }
  bool has_payloads() const { return format_.has_payloads; }
  size_t allocated_bytes() const { return capacity_; }
  size_t used_bytes() const { return capacity_ - free_bytes(); }
  size_t free_bytes() const {
    assert(FrontEnd() <= MembersBegin());
    return MembersBegin() - FrontEnd();
  }

  // The bytes that deadlines take, which the limits of block_packing.h do not count.
  size_t deadline_bytes() const { return has_deadlines() ? Deadlines().Bytes(count_) : 0; }

  // The frame of the deadlines. Precondition: has_deadlines().
  DeadlineFrame deadline_frame() const { return Deadlines().frame(); }

  // Its own ID and those of its neighbours, for its owner's use.
  uint32_t id = 0;
  uint32_t previous = 0;
  uint32_t next = 0;
  void TakePlaceOf(const BlockLayout& other) {
    id = other.id;
    previous = other.previous;
    next = other.next;
  }

 protected:
  using Members = BlockFormat::Members;

  BlockLayout(const BlockFormat& format, size_t count) : count_(count), format_(format) {}

  static char* Mutable(const void* bytes) {
    return const_cast<char*>(static_cast<const char*>(bytes));
  }

  const char* Data() const { return reinterpret_cast<const char*>(this) + kHeaderBytes; }
  const char* End() const { return reinterpret_cast<const char*>(this) + capacity_; }

  bool HasLengths() const { return format_.members == Members::kLengths; }
  std::string_view Prefix() const { return {Data(), format_.prefix_length}; }
  const uint8_t* Tags() const {
    return reinterpret_cast<const uint8_t*>(Data()) + format_.prefix_length;
  }
  const uint8_t* Lengths() const { return Tags() + (format_.tagged ? count_ : 0); }
  const char* Scores() const {
    return reinterpret_cast<const char*>(Lengths()) + (HasLengths() ? count_ : 0);
  }
  const char* ScorePlace(size_t i) const { return Scores() + i * format_.score_width; }
  uint64_t PackedScoreAt(size_t i) const { return LoadPacked(ScorePlace(i), format_.score_width); }
  const char* FrontEnd() const { return ScorePlace(count_) + column_bytes(); }

  // The bytes of the columns that few blocks have.
  size_t column_bytes() const {
    if (!format_.has_columns()) [[likely]]
      return 0;
    return deadline_bytes() + payload_bytes();
  }
  size_t payload_bytes() const { return has_payloads() ? Payloads().Bytes(count_) : 0; }

  DeadlineColumn Deadlines() const {  // of a block with deadlines
    return DeadlineColumn(Mutable(ScorePlace(count_)));
  }
  PayloadColumn Payloads() const {  // of a block with payloads
    return PayloadColumn(Mutable(ScorePlace(count_) + deadline_bytes()));
  }

  // The bytes that the first `count` members take.
  size_t MemberBytes(size_t count) const {
    if (!HasLengths()) return count * format_.member_width;
    return SumBytes(Lengths(), count, kLargeLength, sizeof(LargeMember*));
  }
  const char* MemberPlace(size_t i) const { return End() - MemberBytes(i + 1); }
  const char* MembersBegin() const { return End() - MemberBytes(count_); }
  size_t MemberLength(size_t i) const {
    if (!HasLengths()) return format_.member_width;
    return Lengths()[i] == kLargeLength ? sizeof(LargeMember*) : Lengths()[i];
  }

  // The number of a member that is a numeral, less number_base, if it shares the score's bytes.
  uint64_t SharedNumber(size_t i) const { return PackedScoreAt(i) & format_.number_mask(); }
  uint64_t NumberAt(size_t i) const {
    return format_.number_base + (format_.shares_bytes()
                                      ? SharedNumber(i)
                                      : LoadPacked(MemberPlace(i), format_.member_width));
  }

  uint16_t capacity_ = 0;  // of the whole allocation
  uint8_t count_;
  BlockFormat format_;  // changes only by the columns of deadlines and payloads
};

static_assert(alignof(BlockFormat) == 1 &&
                  sizeof(BlockLayout) - BlockLayout::kHeaderBytes < alignof(BlockLayout),
              "padding only after the header");

}  // namespace zsetd
