#include "core/keyspace/entry_layout.h"

#include <atomic>
#include <cassert>
#include <new>
#include <string>

#include "core/keyspace/value.h"

namespace zsetd {
namespace {

// The allocator's granularity. A value that fits in the same allocation can be assigned in place.
constexpr size_t kAllocationStep = 16;

}  // namespace

static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);  // so addresses end in four zero bits
static_assert(alignof(List) <= alignof(EntryLayout) && alignof(Hash) <= alignof(EntryLayout) &&
              alignof(Set) <= alignof(EntryLayout) && alignof(SortedSet) <= alignof(EntryLayout) &&
              alignof(Stream) <= alignof(EntryLayout) &&
              alignof(std::string) <= alignof(EntryLayout));

EntryLayout::EntryLayout(std::string_view key, Kind kind, Room room, std::optional<Millis> deadline)
    : next_(0),
      kind_(kind),
      key_size_(key.size() < kLongKey ? key.size() : kLongKey),
      room_(room),
      high_deadline_(0) {
  if (room != kNoRoom) At<uint64_t>(DeadlineOffset()) = 0;
  set_deadline(deadline);
  if (HasLongKey()) At<size_t>(LongSizeOffset()) = key.size();
  set_access_stamp(0);
  key.copy(&At<char>(KeyOffset()), key.size());
}

EntryLayout::Room EntryLayout::RoomFor(size_t key_size, Kind kind, std::optional<Millis> deadline) {
  if (deadline) return MayShare(*deadline) ? kSharedRoom : kFarRoom;
  const size_t without = AllocationFor(key_size, kind, kNoRoom);
  return AllocationFor(key_size, kind, kSharedRoom) == without ? kSharedRoom : kNoRoom;
}

void* EntryLayout::Allocate(size_t key_size, Kind kind, Room room) {
  return ::operator new(AllocationFor(key_size, kind, room));
}

size_t EntryLayout::AllocationFor(size_t key_size, Kind kind, Room room) {
  const size_t deadline_bytes = room == kNoRoom ? 0 : sizeof(Millis);
  const size_t stamp_bytes = room == kSharedRoom ? 0 : kStampBytes;
  const size_t long_size_bytes = key_size < kLongKey ? 0 : sizeof(size_t);
  const size_t value_bytes = kind <= kMostShortBytes ? kind : BodyBytes(kind);
  const size_t needed =
      sizeof(EntryLayout) + deadline_bytes + stamp_bytes + long_size_bytes + key_size + value_bytes;
  return (needed + kAllocationStep - 1) / kAllocationStep * kAllocationStep;
}

size_t EntryLayout::BodyBytes(Kind kind) {
  switch (kind) {
    case kLongString:
    case kEditedString:
      return sizeof(std::string);
    case kList:
      return sizeof(List);
    case kHash:
      return sizeof(Hash);
    case kSet:
      return sizeof(Set);
    case kSortedSet:
      return sizeof(SortedSet);
    case kStream:
      return sizeof(Stream);
    default:
      return 0;
  }
}

// All threads that may set the stamp at the same time set the same one, and the deadline does not
// change then. So no store undoes another one.
void EntryLayout::SetAccessStampShared(uint32_t stamp) {
  if (room_ == kSharedRoom) {
    std::atomic_ref word(At<uint64_t>(DeadlineOffset()));
    const uint64_t before = word.load(std::memory_order_relaxed);
    const uint64_t after = (before & kLowDeadline) | uint64_t{stamp} << kLowDeadlineBits;
    if (after != before) word.store(after, std::memory_order_relaxed);
    return;
  }
  auto* const bytes = reinterpret_cast<uint8_t*>(const_cast<char*>(AccessStampAt()));
  for (int i = 0; i < kStampBytes; ++i) {
    std::atomic_ref byte(bytes[i]);
    const auto wanted = static_cast<uint8_t>(stamp >> 8 * i);
    if (byte.load(std::memory_order_relaxed) != wanted) {
      byte.store(wanted, std::memory_order_relaxed);
    }
  }
}

void EntryLayout::set_deadline(std::optional<Millis> deadline) {
  assert(HasRoomFor(deadline));
  if (room_ == kNoRoom) return;
  if (room_ == kFarRoom) {
    At<Millis>(DeadlineOffset()) = deadline.value_or(kNoFarDeadline);
    return;
  }
  const uint64_t shared = deadline ? static_cast<uint64_t>(deadline->count()) : kNoSharedDeadline;
  uint64_t& word = At<uint64_t>(DeadlineOffset());
  word = (word & ~kLowDeadline) | (shared & kLowDeadline);
  high_deadline_ = shared >> kLowDeadlineBits;
}

}  // namespace zsetd
