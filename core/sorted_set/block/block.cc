#include "core/sorted_set/block/block.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>

#include "core/hashing/keyed_hash.h"
#include "core/util/allocation.h"
#include "core/util/cache_line.h"
#include "core/util/copy_bytes.h"
#include "core/util/numeral.h"
#include "core/util/short_compare.h"

namespace zsetd {
namespace {

// Makes room for `width` bytes at place `i` of an array of `count` fields of that width, while the
// whole array moves up by `shift` bytes. Returns the room.
char* Open(char* array, size_t count, size_t i, size_t width, size_t shift) {
  char* to = array + shift;
  CopyBytes(to + (i + 1) * width, array + i * width, (count - i) * width);
  if (shift > 0) CopyBytes(to, array, i * width);
  return to + i * width;
}

// The opposite: drops the fields from `first` to before `last`, while the array moves down by
// `shift` bytes.
void Close(char* array, size_t count, size_t first, size_t last, size_t width, size_t shift) {
  char* to = array - shift;
  if (shift > 0) CopyBytes(to, array, first * width);
  CopyBytes(to + first * width, array + last * width, (count - last) * width);
}

// The first of the elements from `first` to before `end` that is not before, or `end`. Those that
// are before precede the others. Without branches, because these would be mispredicted.
template <class IsBefore>
size_t FirstOf(size_t first, size_t end, IsBefore is_before) {
  for (size_t left = end - first; left > 0;) {
    const size_t half = left / 2;
    const bool before = is_before(first + half);
    first = before ? first + half + 1 : first;
    left = before ? left - half - 1 : half;
  }
  return first;
}

}  // namespace

void Block::Free(Block* block) { ::operator delete(block); }

size_t Block::LargeMemberBytes() const {
  size_t bytes = 0;
  ForEachLarge(0, count_, [&](const LargeMember* large) { bytes += AllocatedBytes(large); });
  return bytes;
}

void Block::FreeLargeMembers() { ForEachLarge(0, count_, LargeMember::Free); }

#ifndef NDEBUG
uint64_t Block::Checksum() const {
  const auto bytes = [](const char* begin, const char* end) {
    return KeyedHash({begin, static_cast<size_t>(end - begin)});
  };
  const char* format = reinterpret_cast<const char*>(&format_);
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;  // any odd number
  uint64_t sum = count_;
  sum = sum * kFactor + bytes(format, format + sizeof format_);
  sum = sum * kFactor + bytes(Data(), FrontEnd());
  return sum * kFactor + bytes(MembersBegin(), End());
}
#endif

LargeMember* Block::LargeAt(size_t i) const {
  if (!HasLengths() || Lengths()[i] != kLargeLength) return nullptr;
  LargeMember* large;
  CopyBytes(&large, MemberPlace(i), sizeof(large));
  return large;
}

std::string_view Block::Assemble(size_t i, MemberBuffer& buffer) const {
  if (const LargeMember* large = LargeAt(i)) return large->view();
  const char* at = MemberPlace(i);
  const size_t length = MemberLength(i);
  const std::string_view prefix = Prefix();
  const bool is_numeral = format_.members == Members::kNumerals;
  if (prefix.empty() && !is_numeral) return {at, length};

  CopyBytes(buffer.data(), prefix.data(), prefix.size());
  char* tail = buffer.data() + prefix.size();
  if (is_numeral) {
    return {buffer.data(), WriteNumeral(tail, NumberAt(i), format_.digits)};
  }
  CopyBytes(tail, at, length);
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
    CopyBytes(at, &member.large, sizeof(member.large));
  } else if (format_.members == Members::kNumerals) {
    StorePacked(at, format_.member_width, member.number);
  } else {
    CopyBytes(at, member.bytes.data(), member.bytes.size());
  }
}

size_t Block::LowerBound(uint64_t code) const {
  const ScoreFrame frame = format_.frame();
  if (code <= frame.base) return 0;
  const uint64_t steps = frame.StepsUp(code);
  if (steps > frame.MostSteps()) return count_;
  const uint64_t wanted = steps << frame.below;
  const char* scores = Scores();
  return FirstOf(0, count_, [&](size_t i) {
    return LoadPacked(scores + i * frame.width, frame.width) < wanted;
  });
}

size_t Block::LowerBound(uint64_t code, std::string_view member) const {
  const size_t first = LowerBound(code);
  if (first == count_ || CodeAt(first) != code) return first;
  const bool is_last_code = code == ~uint64_t{0};  // only of sets with a form
  const size_t end = is_last_code ? count_ : LowerBound(code + 1);
  if (const auto number = OrderedNumber(member)) {
    return FirstOf(first, end, [&](size_t i) { return NumberAt(i) < *number; });
  }
  MemberBuffer buffer;
  return FirstOf(first, end, [&](size_t i) { return MemberAt(i, buffer) < member; });
}

// The number of the member, if the order of all members is that of their numbers: numerals of the
// same length.
std::optional<uint64_t> Block::OrderedNumber(std::string_view member) const {
  const bool has_numbers = format_.members == Members::kNumerals && format_.digits != kShortest;
  if (!has_numbers || !member.starts_with(Prefix())) return std::nullopt;
  return ParseNumeral(member.substr(format_.prefix_length), format_.digits);
}

// The index of the element for which is(i, its packed member) is true, and whose tag is `tag` if
// the block is tagged; or count().
template <class Is>
size_t Block::FindWhere(uint8_t tag, Is is) const {
  if (!tagged()) return FindUntagged(is);
  size_t found = count_;
  const auto is_it = [&](size_t i) {
    PrefetchLine(ScorePlace(i));  // the caller reads it next
    if (!is(i, MemberPlace(i))) return false;
    found = i;
    return true;
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
  assert(i <= count_ && count_ < kMaxCount);
  const ScoreFrame frame = format_.frame();
  if (!frame.Holds(item.code)) return Insertion::kOtherFormat;
  const auto packed = PackedFormOf(item.member, item.large);
  if (!packed) return Insertion::kOtherFormat;
  const size_t tag_bytes = tagged() ? 1 : 0, length_bytes = HasLengths() ? 1 : 0;
  if (free_bytes() < RoomFor(item) + RoomForDeadline()) return Insertion::kNoRoom;
  const size_t length = LengthOf(*packed);

  // Members first, then the front's arrays from the last to the first: each moves into the free
  // space, or into the room that the array after it has left.
  const size_t before = MemberBytes(i), all = MemberBytes(count_);
  char* end = Mutable(End());
  CopyBytes(end - all - length, end - all, all - before);
  Write(end - before - length, *packed);
  if (format_.has_columns()) [[unlikely]]
    InsertIntoColumns(i, tag_bytes + length_bytes + frame.width);
  char* score = Open(Mutable(Scores()), count_, i, frame.width, tag_bytes + length_bytes);
  StorePacked(score, frame.width, PackedScore(item.code, *packed));
  if (HasLengths()) {
    *Open(Mutable(Lengths()), count_, i, 1, tag_bytes) =
        static_cast<char>(packed->is_large ? kLargeLength : length);
  }
  if (tagged()) *Open(Mutable(Tags()), count_, i, 1, 0) = static_cast<char>(item.tag);
  ++count_;
  if (item.payload_length > 0) [[unlikely]] {
    [[maybe_unused]] const size_t missing = SetPayload(i, item.payload());
    assert(missing == 0);
  }
  return Insertion::kDone;
}

// Inserts an element without a deadline and a payload into the columns, which move up by `shift`
// bytes.
void Block::InsertIntoColumns(size_t i, size_t shift) {
  char* const column = Mutable(ScorePlace(count_));
  const size_t deadlines = deadline_bytes();
  if (has_payloads()) {
    char* const to = column + shift + deadlines + RoomForDeadline();
    CopyBytes(to, column + deadlines, payload_bytes());
    PayloadColumn(to).Insert(i, count_);
  }
  if (has_deadlines()) {
    CopyBytes(column + shift, column, deadlines);
    DeadlineColumn(column + shift).Insert(i, count_);
  }
}

void Block::Erase(size_t first, size_t last) {
  assert(first < last && last <= count_ && last - first < count_);
  const size_t gone = last - first;
  const size_t tag_bytes = tagged() ? gone : 0, length_bytes = HasLengths() ? gone : 0;
  const size_t before = MemberBytes(first), with = MemberBytes(last), all = MemberBytes(count_);
  char* lengths = Mutable(Lengths());
  char* scores = Mutable(Scores());
  char* column = Mutable(ScorePlace(count_));  // of deadlines or payloads, if there is one

  char* end = Mutable(End());
  CopyBytes(end - all + (with - before), end - all, all - with);
  if (tagged()) Close(Mutable(Tags()), count_, first, last, 1, 0);
  if (HasLengths()) Close(lengths, count_, first, last, 1, tag_bytes);
  Close(scores, count_, first, last, format_.score_width, tag_bytes + length_bytes);
  count_ -= gone;
  if (format_.has_columns()) [[unlikely]]
    EraseFromColumns(column, first, last);
}

// Erases elements, which are not counted any more, from the columns, which begin at `column` and
// move down.
void Block::EraseFromColumns(char* column, size_t first, size_t last) {
  const size_t count_before = count_ + (last - first);
  char* const to = Mutable(ScorePlace(count_));
  DeadlineColumn deadlines(column);
  PayloadColumn payloads(column + (has_deadlines() ? deadlines.Bytes(count_before) : 0));
  if (has_deadlines()) {
    deadlines.Erase(first, last, count_before);
    CopyBytes(to, column, deadlines.Bytes(count_));
  }
  if (has_payloads()) {
    payloads.Erase(first, last, count_before);
    CopyBytes(to + deadline_bytes(), payloads.begin(), payloads.Bytes(count_));
    format_.has_payloads = Payloads().HasAny();
  }
  if (has_deadlines()) DropUnusedDeadlines();
}

bool Block::SetCode(size_t i, uint64_t code) {
  assert(i < count_);
  const ScoreFrame frame = format_.frame();
  if (!frame.Holds(code)) return false;
  StorePacked(Mutable(ScorePlace(i)), frame.width, frame.Pack(code) | SharedNumber(i));
  return true;
}

size_t Block::SetDeadline(size_t i, uint64_t deadline) {
  assert(i < count_ && (deadline == kNoDeadline || deadline <= kMostDeadline) && deadline > 0);
  if (!has_deadlines() && deadline == kNoDeadline) return 0;
  if (has_deadlines() && deadline_frame().Holds(deadline)) {
    Deadlines().Set(i, deadline);
    if (deadline == kNoDeadline) DropUnusedDeadlines();
    return 0;
  }
  std::array<uint64_t, kMaxCount> all;
  for (size_t at = 0; at < count_; ++at) all[at] = DeadlineAt(at);
  all[i] = deadline;
  const std::span<const uint64_t> deadlines(all.data(), count_);
  const DeadlineFrame frame = DeadlineFrame::Covering(deadlines, i);
  const size_t needed = DeadlineColumn::Bytes(frame, count_);
  const size_t available = free_bytes() + deadline_bytes();
  if (needed > available) return needed - available;
  WriteDeadlines(deadlines, frame);
  return 0;
}

// There is room for them.
void Block::WriteDeadlines(std::span<const uint64_t> deadlines, const DeadlineFrame& frame) {
  const size_t before = deadline_bytes(), after = DeadlineColumn::Bytes(frame, count_);
  char* const column = Mutable(ScorePlace(count_));
  CopyBytes(column + after, column + before, payload_bytes());
  format_.has_deadlines = true;
  Deadlines().Write(frame, deadlines);
}

// Without a deadline a block is what it was before it had one.
void Block::DropUnusedDeadlines() {
  if (Deadlines().HasAny(count_)) return;
  char* const column = Mutable(ScorePlace(count_));
  CopyBytes(column, column + deadline_bytes(), payload_bytes());
  format_.has_deadlines = false;
}

size_t Block::SetPayload(size_t i, const PackedPayload& payload) {
  assert(i < count_);
  if (!has_payloads()) {
    if (!payload) return 0;
    const size_t needed = PayloadColumn::Bytes(count_, payload.size());
    if (needed > free_bytes()) return needed - free_bytes();
    Payloads().Clear(count_);
    format_.has_payloads = true;
    Payloads().Set(i, count_, payload);
    return 0;
  }
  const size_t before = Payloads().SizeOf(i);
  if (payload.size() > before + free_bytes()) return payload.size() - before - free_bytes();
  Payloads().Set(i, count_, payload);
  format_.has_payloads = Payloads().HasAny();
  return 0;
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
  FindTag(tag, [&](size_t i) {
    PrefetchMember(i);
    return false;
  });
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
    PrefetchMember(i);
    return false;
  });
}

}  // namespace zsetd
