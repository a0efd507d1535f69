#include "core/block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "core/allocation.h"
#include "core/cache_line.h"
#include "core/numeral.h"

namespace zsetd {
namespace {

// memmove is always a call. For a length known to fit a byte g++ 12 turns memcpy into `rep movs`,
// which takes 20 ns to start.
void Copy(void* to, const void* from, size_t bytes) { std::memmove(to, from, bytes); }

char* Mutable(const void* bytes) { return const_cast<char*>(static_cast<const char*>(bytes)); }

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

// Whether the packed member at `at` is these bytes. Most that are not differ in the last eight: to
// look at those first saves a call for nearly each member of an untagged block.
bool AreSame(const char* at, std::string_view bytes) {
  const size_t size = bytes.size();
  if (size < 8) return std::memcmp(at, bytes.data(), size) == 0;
  uint64_t here, there;
  std::memcpy(&here, at + size - 8, 8);
  std::memcpy(&there, bytes.data() + size - 8, 8);
  return here == there && std::memcmp(at, bytes.data(), size) == 0;
}

}  // namespace

size_t Block::MemberBytes(size_t count) const {
  if (!HasLengths()) return count * format_.member_width;
  return SumBytes(Lengths(), count, kLargeLength, sizeof(LargeMember*));
}

size_t Block::MemberLength(size_t i) const {
  if (!HasLengths()) return format_.member_width;
  return Lengths()[i] == kLargeLength ? sizeof(LargeMember*) : Lengths()[i];
}

size_t Block::LengthOf(const PackedMember& member) const {
  if (!HasLengths()) return format_.member_width;
  return member.is_large ? sizeof(LargeMember*) : member.bytes.size();
}

LargeMember* Block::LargeAt(size_t i) const {
  if (!HasLengths() || Lengths()[i] != kLargeLength) return nullptr;
  LargeMember* large;
  Copy(&large, MemberPlace(i), sizeof(large));
  return large;
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
    const uint64_t number = format_.number_base + LoadPacked(at, format_.member_width);
    return {buffer.data(), WriteNumeral(tail, number, format_.digits)};
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
  return packed.number <= PackedMax(format_.member_width) ? std::optional(packed) : std::nullopt;
}

// Whether element `i`, whose packed member stands at `at`, is the member.
bool Block::Is(size_t i, const char* at, std::string_view member,
               const PackedMember& packed) const {
  switch (format_.members) {
    case Members::kNumerals:
      return LoadPacked(at, format_.member_width) == packed.number;
    case Members::kSameLength:
      return AreSame(at, packed.bytes);
    case Members::kLengths:
      break;
  }
  const uint8_t length = Lengths()[i];
  if (packed.is_large) return length == kLargeLength && LargeAt(i)->view() == member;
  return length == packed.bytes.size() && AreSame(at, packed.bytes);
}

std::optional<size_t> Block::Find(std::string_view member, uint8_t tag) const {
  const auto packed = PackedFormOf(member, nullptr);
  if (!packed) return std::nullopt;
  if (!tagged()) return FindUntagged(member, *packed);
  size_t found = 0;
  const auto is_it = [&](size_t i) {
    FetchLine(Scores() + i * format_.score_width);  // it is asked for next
    return found = i, Is(i, MemberPlace(i), member, *packed);
  };
  return FindTag(tag, is_it) ? std::optional(found) : std::nullopt;
}

std::optional<size_t> Block::FindUntagged(std::string_view member,
                                          const PackedMember& packed) const {
  const char* at = End();
  for (size_t i = 0; i < count_; ++i) {
    at -= MemberLength(i);
    if (Is(i, at, member, packed)) return i;
  }
  return std::nullopt;
}

size_t Block::LowerBound(uint64_t code) const {
  const ScoreFrame frame = format_.frame();
  if (code <= frame.base) return 0;
  const uint64_t wanted = frame.PackUp(code);
  if (wanted > PackedMax(frame.width)) return count_;
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

void Block::Write(char* at, const PackedMember& member) const {
  if (member.is_large) {
    Copy(at, &member.large, sizeof(member.large));
  } else if (format_.members == Members::kNumerals) {
    StorePacked(at, format_.member_width, member.number);
  } else {
    Copy(at, member.bytes.data(), member.bytes.size());
  }
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
  StorePacked(score, frame.width, frame.Pack(item.code));
  if (HasLengths()) {
    *Open(Lengths(), count_, i, 1, tag_bytes) =
        static_cast<char>(packed->is_large ? kLargeLength : length);
  }
  if (tagged()) *Open(Tags(), count_, i, 1, 0) = static_cast<char>(item.tag);
  ++count_;
  return Insertion::kDone;
}

size_t Block::RoomFor(const BlockItem& item) const {
  const size_t front = (tagged() ? 1 : 0) + (HasLengths() ? 1 : 0) + format_.score_width;
  if (!HasLengths()) return front + format_.member_width;
  return front + (item.large ? sizeof(LargeMember*) : item.member.size() - format_.prefix_length);
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
  StorePacked(Mutable(Scores()) + i * frame.width, frame.width, frame.Pack(code));
  return true;
}

Block* Block::Allocate(size_t bytes, const BlockFormat& format, size_t count) {
  void* memory = ::operator new(bytes);
  Block* block = new (memory) Block(format, count);
  block->capacity_ = AllocatedBytes(memory);
  assert(block->capacity_ == AllocatedBytes(memory));
  return block;
}

void Block::Free(Block* block) { ::operator delete(block); }

Block* Block::Pack(std::span<const BlockItem> items, const BlockPlan& plan) {
  assert(!items.empty() && items.size() <= kMaxCount);
  Block* block = Allocate(sizeof(Block) + plan.bytes, plan.format, items.size());
  const size_t prefix_length = plan.format.prefix_length;
  for (const BlockItem& item : items) {
    if (!item.large) Copy(Mutable(block->Prefix().data()), item.member.data(), prefix_length);
    if (!item.large) break;
  }
  const ScoreFrame frame = plan.format.frame();
  char* at = Mutable(block->End());
  for (size_t i = 0; i < items.size(); ++i) {
    const PackedMember packed = *block->PackedFormOf(items[i].member, items[i].large);
    const size_t length = block->LengthOf(packed);
    if (block->tagged()) Mutable(block->Tags())[i] = static_cast<char>(items[i].tag);
    if (block->HasLengths()) {
      Mutable(block->Lengths())[i] = static_cast<char>(packed.is_large ? kLargeLength : length);
    }
    StorePacked(Mutable(block->Scores()) + i * frame.width, frame.width, frame.Pack(items[i].code));
    block->Write(at -= length, packed);
  }
  return block;
}

Block* Block::Copied(const Block& block, size_t room) {
  const size_t front_bytes = block.FrontEnd() - reinterpret_cast<const char*>(&block);
  const size_t member_bytes = block.MemberBytes(block.count_);
  Block* copy = Allocate(front_bytes + member_bytes + room, block.format_, block.count_);
  const uint16_t capacity = copy->capacity_;
  Copy(static_cast<void*>(copy), &block, front_bytes);
  copy->capacity_ = capacity;
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

void Block::Prefetch() const { FetchLines(this, 12); }

void Block::PrefetchTags() const { FetchLines(this, 3); }

void Block::PrefetchMember(size_t i) const {
  const char* at = MemberPlace(i);
  FetchLine(at);
  FetchLine(at + MemberLength(i) - 1);
}

void Block::PrefetchMember(uint8_t tag) const {
  FindTag(tag, [&](size_t i) { return PrefetchMember(i), false; });
}

void Block::PrefetchBehind(size_t i) const {
  const auto fetch = [](const char* first, const char* end) {
    FetchLines(first, (end - first + kCacheLine - 1) / kCacheLine);
  };
  fetch(Scores() + i * format_.score_width, FrontEnd());
  fetch(MembersBegin(), End() - MemberBytes(i));
}

void Block::PrefetchElement(uint8_t tag) const {
  FindTag(tag, [&](size_t i) {
    FetchLine(Scores() + i * format_.score_width);
    return PrefetchMember(i), false;
  });
}

}  // namespace zsetd
