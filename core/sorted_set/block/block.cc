#include "core/sorted_set/block/block.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

#include "core/util/allocation.h"
#include "core/util/cache_line.h"
#include "core/util/numeral.h"
#include "core/util/short_compare.h"

namespace zsetd {
namespace {

// memmove is always a call. For a length known to fit a byte g++ 12 turns memcpy into `rep movs`,
// which takes 20 ns to start. An empty member may be a null pointer, which memmove must not get.
inline void Copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

inline char* Mutable(const void* bytes) {
  return const_cast<char*>(static_cast<const char*>(bytes));
}

// Makes room for `width` bytes at place `i` of an array of `count` fields of that width, while the
// whole array moves up by `shift` bytes. Returns the room.
char* Open(const void* array, size_t count, size_t i, size_t width, size_t shift) {
  char* from = Mutable(array);
  char* to = from + shift;
  Copy(to + (i + 1) * width, from + i * width, (count - i) * width);
  if (shift > 0) Copy(to, from, i * width);
  return to + i * width;
}

// The opposite: drops the fields from `first` to before `last`, while the array moves down by
// `shift` bytes.
void Close(const void* array, size_t count, size_t first, size_t last, size_t width, size_t shift) {
  char* from = Mutable(array);
  char* to = from - shift;
  if (shift > 0) Copy(to, from, first * width);
  Copy(to + first * width, from + last * width, (count - last) * width);
}

}  // namespace

Block* Block::Allocate(size_t bytes, const BlockFormat& format, size_t count) {
  void* memory = ::operator new(std::max(bytes, sizeof(Block)));
  Block* block = new (memory) Block(format, count);
  block->capacity_ = AllocatedBytes(memory);
  assert(block->capacity_ == AllocatedBytes(memory));
  return block;
}

void Block::Free(Block* block) { ::operator delete(block); }

Block* Block::Copied(const Block& block, size_t room) {
  const size_t front_bytes = block.FrontEnd() - block.Data();
  const size_t member_bytes = block.MemberBytes(block.count_);
  const size_t bytes = kHeaderBytes + front_bytes + member_bytes + room;
  Block* copy = Allocate(bytes, block.format_, block.count_);
  copy->TakePlaceOf(block);
  Copy(Mutable(copy->Data()), block.Data(), front_bytes);
  Copy(Mutable(copy->End()) - member_bytes, block.End() - member_bytes, member_bytes);
  return copy;
}

Block* Block::Moved(Block* block, size_t room) {
  Block* moved = Copied(*block, room);
  Free(block);
  return moved;
}

Block* Block::Clone(const Block& block) {
  Block* clone = Copied(block, 0);
  for (size_t i = 0; clone->HasLengths() && i < clone->count_; ++i) {
    const LargeMember* shared = clone->LargeAt(i);
    if (shared == nullptr) continue;
    LargeMember* own = LargeMember::Make(shared->view());
    Copy(Mutable(clone->MemberPlace(i)), &own, sizeof(own));
  }
  return clone;
}

size_t Block::LargeMemberBytes() const {
  size_t bytes = 0;
  for (size_t i = 0; HasLengths() && i < count_; ++i) bytes += AllocatedBytes(LargeAt(i));
  return bytes;
}

void Block::FreeLargeMembers() {
  for (size_t i = 0; HasLengths() && i < count_; ++i) {
    if (LargeMember* large = LargeAt(i)) LargeMember::Free(large);
  }
}

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

// What depends on how members are written is decided before the search and not with each member.

// The element for which is(i, where its packed member stands), with tags one of that tag; or
// count().
template <class Is>
size_t Block::FindWhere(uint8_t tag, Is is) const {
  if (!tagged()) return FindUntagged(is);
  size_t found = count_;
  const auto is_it = [&](size_t i) {
    PrefetchLine(ScorePlace(i));  // it is asked for next
    return is(i, MemberPlace(i)) && (found = i, true);
  };
  FindTag(tag, is_it);
  return found;
}

template <class Is>
size_t Block::FindUntagged(Is is) const {
  const char* at = End();
  const bool lengths_differ = HasLengths();
  const size_t width = format_.member_width;
  for (size_t i = 0; i < count_; ++i) {
    at -= lengths_differ ? MemberLength(i) : width;
    if (is(i, at)) return i;
  }
  return count_;
}

size_t Block::Find(std::string_view member, uint8_t tag) const {
  const auto packed = PackedFormOf(member, nullptr);
  if (!packed) return count_;
  const std::string_view bytes = packed->bytes;
  switch (format_.members) {
    case Members::kSameLength:
      return FindWhere(tag, [&](size_t, const char* at) { return SameBytes(at, bytes); });
    case Members::kNumerals:
      if (format_.shares_bytes()) {
        return FindWhere(tag, [this, number = packed->number](size_t i, const char*) {
          return SharedNumber(i) == number;
        });
      }
      return FindWhere(
          tag, [number = packed->number, width = format_.member_width](size_t, const char* at) {
            return LoadPacked(at, width) == number;
          });
    case Members::kLengths:
      break;
  }
  if (packed->is_large) {
    return FindWhere(tag, [&](size_t i, const char*) {
      const LargeMember* large = LargeAt(i);
      return large != nullptr && large->view() == member;
    });
  }
  return FindWhere(tag, [&, lengths = Lengths()](size_t i, const char* at) {
    return lengths[i] == bytes.size() && SameBytes(at, bytes);
  });
}

Block::Insertion Block::Insert(size_t i, const BlockItem& item) {
  const ScoreFrame frame = format_.frame();
  if (!frame.Holds(item.code)) return Insertion::kOtherFormat;
  const auto packed = PackedFormOf(item.member, item.large);
  if (!packed) return Insertion::kOtherFormat;
  const size_t tag_bytes = tagged() ? 1 : 0, length_bytes = HasLengths() ? 1 : 0;
  if (free_bytes() < RoomFor(item)) return Insertion::kNoRoom;
  const size_t length = LengthOf(*packed);

  // Members first, then the front's arrays from the last to the first: each moves into the free
  // space, or into the room that the one behind it has left.
  const size_t before = MemberBytes(i), all = MemberBytes(count_);
  char* end = Mutable(End());
  Copy(end - all - length, end - all, all - before);
  Write(end - before - length, *packed);
  char* score = Open(Scores(), count_, i, frame.width, tag_bytes + length_bytes);
  StorePacked(score, frame.width, PackedScore(item.code, *packed));
  if (HasLengths()) {
    *Open(Lengths(), count_, i, 1, tag_bytes) =
        static_cast<char>(packed->is_large ? kLargeLength : length);
  }
  if (tagged()) *Open(Tags(), count_, i, 1, 0) = static_cast<char>(item.tag);
  ++count_;
  return Insertion::kDone;
}

void Block::Erase(size_t first, size_t last) {
  assert(first < last && last <= count_ && last - first < count_);
  const size_t gone = last - first;
  const size_t tag_bytes = tagged() ? gone : 0, length_bytes = HasLengths() ? gone : 0;
  const size_t before = MemberBytes(first), with = MemberBytes(last), all = MemberBytes(count_);
  const uint8_t* lengths = Lengths();
  const char* scores = Scores();

  char* end = Mutable(End());
  Copy(end - all + (with - before), end - all, all - with);
  if (tagged()) Close(Tags(), count_, first, last, 1, 0);
  if (HasLengths()) Close(lengths, count_, first, last, 1, tag_bytes);
  Close(scores, count_, first, last, format_.score_width, tag_bytes + length_bytes);
  count_ -= gone;
}

bool Block::SetCode(size_t i, uint64_t code) {
  const ScoreFrame frame = format_.frame();
  if (!frame.Holds(code)) return false;
  StorePacked(Mutable(ScorePlace(i)), frame.width, frame.Pack(code) | SharedNumber(i));
  return true;
}

// Parts of a block as blocks of their own. Where packing again would find no tighter format, the
// bytes are copied as they are, which is what makes a split cheap.

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

void Block::Prefetch() const { FetchLines(this, 12); }

void Block::PrefetchTags() const { FetchLines(this, 3); }

void Block::PrefetchMember(size_t i) const {
  if (format_.shares_bytes()) return PrefetchLine(ScorePlace(i));
  const char* at = MemberPlace(i);
  PrefetchLine(at);
  PrefetchLine(at + MemberLength(i) - 1);
}

void Block::PrefetchMember(uint8_t tag) const {
  FindTag(tag, [&](size_t i) { return PrefetchMember(i), false; });
}

void Block::PrefetchBehind(size_t i) const {
  const auto fetch = [](const char* first, const char* end) {
    FetchLines(first, (end - first + kCacheLine - 1) / kCacheLine);
  };
  fetch(ScorePlace(i), FrontEnd());
  fetch(MembersBegin(), End() - MemberBytes(i));
}

void Block::PrefetchElement(uint8_t tag) const {
  FindTag(tag, [&](size_t i) {
    PrefetchLine(ScorePlace(i));
    return PrefetchMember(i), false;
  });
}

}  // namespace zsetd
