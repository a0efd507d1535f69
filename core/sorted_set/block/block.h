#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/sorted_set/block/block_format.h"
#include "core/util/byte_scan.h"
#include "core/util/numeral.h"
#include "core/util/packed_integer.h"

namespace zsetd {

// Where a member is put together when it does not stand in its block as it is.
using MemberBuffer = std::array<char, kMaxInlineMember + kMaxNumeralDigits + 1>;

// Up to 160 elements, in order, packed into one allocation:
//
//   header | prefix | tags | lengths | scores -->      free      <-- members | end
//                     t0 t1  l0 l1     s0 s1 s2                    m2 m1 m0
//
// There is no pointer and no offset per element. What all members share stands once, as the prefix.
// Scores are integers of `score_width` bytes (core/sorted_set/block/score_encoding.h), so a binary
// search reads them in place. Members stand in order from the end down, so that one added behind
// the last moves nothing; where their lengths differ there is a length byte each, and the place of
// a member is a sum. Members that are decimal numerals are kept as integers too.
//
//   "user:0731" 5.0,  "user:0015" 6.0,  "user:0804" 7.0
//       prefix "user:"  digits 4  number base 15     members 716, 0, 789 in two bytes each
//                                                    scores  0, 1, 2 in one byte each
//
// Such an integer stands in the bytes of its score, as their lowest bits, where both together take
// fewer bytes so:
//
//   score  [ 17 bits ......... ] [ number 30 bits .................. ]     six bytes, not 3 + 4
//
// That is what ids of nine digits with the seconds of a day need.
//
// A block holds what fits its format; for anything else it is unpacked, and the elements packed
// anew, maybe into several blocks. Whoever owns a block owns the LargeMembers in it.
//
// Invariants: at least one element, strictly ascending by (code, member); front and members do not
// meet; every element comes out byte for byte as it went in.
class Block {
  friend class BlockReader;
  using Members = BlockFormat::Members;

 public:
  // With 128, those of 20-byte members and timestamps ended in an allocation a tenth too large.
  static constexpr size_t kMaxCount = 160;
  static constexpr size_t kMaxBytes = 4096;

  // Without padding, and each byte counts: a recency list of 30 has 31 elements at times, of five
  // or six bytes, which take 192 or 223. In allocations of 224 and 256 such lists took a tenth
  // more.
  static constexpr size_t kHeaderBytes = 15 + sizeof(BlockFormat);

  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // A block of the items as `plan`, which was made for them, says. Takes over their LargeMembers.
  static Block* Pack(std::span<const BlockItem> items, const BlockPlan& plan);
  static void Free(Block* block);  // leaves LargeMembers alone

  // The same elements once more, LargeMembers included, with no room to spare.
  static Block* Clone(const Block& block);

  // The elements from `first` to before `last`, at least one, once more, in the same format, with
  // that room. With the same LargeMembers, too, which only one of both blocks may free.
  static Block* Part(const Block& block, size_t first, size_t last, size_t room);

  // Whether the elements would take as much if they were packed anew. Says "no" rather than take
  // long.
  bool IsTight() const;

  // The same block in a larger or smaller allocation; the old one is freed. `room` is what it shall
  // have free.
  static Block* Moved(Block* block, size_t room);

  size_t count() const { return count_; }
  bool tagged() const { return format_.tagged; }
  size_t allocated_bytes() const { return capacity_; }
  size_t used_bytes() const { return capacity_ - free_bytes(); }
  size_t free_bytes() const { return MembersBegin() - FrontEnd(); }

  // Its own name and its neighbours', for its owner's use. Moved keeps them, Pack and Part do
  // not set them.
  uint32_t id = 0;
  uint32_t previous = 0;
  uint32_t next = 0;
  void TakePlaceOf(const Block& other) {
    id = other.id;
    previous = other.previous;
    next = other.next;
  }

  uint64_t CodeAt(size_t i) const { return format_.frame().Unpack(PackedScoreAt(i)); }

  // The member's bytes, in the block or in `buffer`.
  std::string_view MemberAt(size_t i, MemberBuffer& buffer) const {
    const size_t width = format_.member_width;
    if (format_.members != Members::kSameLength || format_.prefix_length > 0) {
      return Assemble(i, buffer);
    }
    return {End() - (i + 1) * width, width};
  }
  LargeMember* LargeAt(size_t i) const;  // or null
  size_t LargeMemberBytes() const;       // allocated by its LargeMembers
  void FreeLargeMembers();
  uint8_t TagAt(size_t i) const { return tagged() ? Tags()[i] : 0; }
  BlockItem ItemAt(size_t i, MemberBuffer& buffer) const {
    return {CodeAt(i), MemberAt(i, buffer), LargeAt(i), TagAt(i)};
  }

  // Where the member stands; count() if nowhere. With tags, `tag` is its own and saves most
  // comparisons.
  size_t Find(std::string_view member, uint8_t tag) const;

  // Calls visit(i) for each element with that tag, in order, until it returns true; then true.
  template <class Visit>
  bool FindTag(uint8_t tag, Visit visit) const {
    return FindByte(Tags(), count_, tag, visit);
  }

  // How many elements stand before (code, member).
  size_t LowerBound(uint64_t code, std::string_view member) const;

  // Puts the item at `i`, where it belongs, in place. kOtherFormat and kNoRoom changed nothing.
  enum class Insertion { kDone, kNoRoom, kOtherFormat };
  Insertion Insert(size_t i, const BlockItem& item);

  // The bytes it takes here, if it fits the format.
  size_t RoomFor(const BlockItem& item) const { return format_.BytesOf(item); }

  // Takes the elements from `first` to before `last` out in place; they are not all. LargeMembers
  // are the caller's.
  void Erase(size_t first, size_t last);

  // Changes a score in place, if the format holds it. The order must stay.
  bool SetCode(size_t i, uint64_t code);

  // Fetches what a search will read into the cache.
  void Prefetch() const;
  void PrefetchTags() const;
  void PrefetchMember(uint8_t tag) const;   // all with that tag; the tags are read
  void PrefetchElement(uint8_t tag) const;  // and their scores
  void PrefetchBehind(size_t i) const;      // what moves when element `i` comes or goes

 private:
  // A member as it would stand in this block.
  struct PackedMember {
    std::string_view bytes;        // what stands behind the prefix
    uint64_t number = 0;           // or its distance from number_base
    LargeMember* large = nullptr;  // or what holds it; null in a search
    bool is_large = false;
  };

  Block(const BlockFormat& format, size_t count) : count_(count), format_(format) {}
  static Block* Copied(const Block& block, size_t room);  // with the same LargeMembers
  static Block* Allocate(size_t bytes, const BlockFormat& format, size_t count);

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
  const char* FrontEnd() const { return ScorePlace(count_); }

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
  uint64_t SharedNumber(size_t i) const { return PackedScoreAt(i) & format_.number_mask(); }
  uint64_t NumberAt(size_t i) const {
    return format_.number_base + (format_.shares_bytes()
                                      ? SharedNumber(i)
                                      : LoadPacked(MemberPlace(i), format_.member_width));
  }
  void PrefetchMember(size_t i) const;
  size_t LengthOf(const PackedMember& member) const {
    if (!HasLengths()) return format_.member_width;
    return member.is_large ? sizeof(LargeMember*) : member.bytes.size();
  }

  int ScoreBits() const;
  bool NumbersAreTight() const;
  bool BytesAreTight() const;

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

  uint16_t capacity_ = 0;  // of the whole allocation
  uint8_t count_;
  const BlockFormat format_;
};
static_assert(Block::kMaxCount <= UINT8_MAX);
static_assert(alignof(BlockFormat) == 1 && sizeof(Block) - Block::kHeaderBytes < alignof(Block),
              "only behind the header is padding");

// Where an element stands, if anywhere; until its block changes. (g++ 12 builds an optional that is
// returned byte by byte in memory and reads it back as words, which waits for the bytes: with two
// of them on the way a miss in a set of a thousand took 48 ns, and takes 35.)
struct BlockPlace {
  const Block* block = nullptr;
  size_t index = 0;

  explicit operator bool() const { return block != nullptr; }
  uint64_t code() const { return block->CodeAt(index); }
};

}  // namespace zsetd
