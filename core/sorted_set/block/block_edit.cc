// Changes in place: elements that come, go or get another score, while the block stays where it is.

#include <cassert>

#include "core/sorted_set/block/block.h"
#include "core/sorted_set/block/block_bytes.h"

namespace zsetd {
namespace {

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

}  // namespace zsetd
