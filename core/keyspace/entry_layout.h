// The parts of an entry, in one allocation of exactly the needed size.
//
//     8       8 or 0       8 or 0      8 to 32 or 0   3 or 0
//   [ head | deadline | long length | body         | stamp | key bytes | value bytes ]
//
//   head   [ next: 43 | kind: 8 | length: 7 | room: 2 | first bits of the deadline: 4 ]
//
// `kind` is the number of value bytes of a short string, or the type of the object in the body: a
// long string, a list, a hash, a set, a sorted set, a stream. `length` is the length of the key in
// seven bits; longer keys have a long length. `room` states whether the entry has room for a
// deadline. The room is added when it is needed, or when the allocator's rounding provides it
// anyway. The stamp shares the room, because near deadlines in milliseconds take 44 bits, of which
// the head holds four:
//
//   no room      stamp before the key; there is no deadline
//   shared       [ deadline: 40 | stamp: 24 ]; up to the year 2527
//   far          [ deadline: 64 ], and the stamp before the key
//
// So a key of 14 bytes with a value of 18 takes 48 bytes with or without a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/util/packed_integer.h"
#include "core/util/time.h"

namespace zsetd {

// The places of the parts of an entry, and all parts except the value: the key, the deadline and
// the stamp. The object is at the start of the memory that Allocate() returns. All functions are
// O(1) or O(key length).
class EntryLayout {
 public:
  std::string_view key() const { return {KeyBytes(), KeySize()}; }
  std::optional<Millis> deadline() const;

  // The stamp that an AccessTracker has set, 24 bits; 0 in a new entry.
  uint32_t access_stamp() const {
    return static_cast<uint32_t>(LoadPacked(AccessStampAt(), kStampBytes));
  }
  void set_access_stamp(uint32_t stamp) {
    StorePacked(const_cast<char*>(AccessStampAt()), kStampBytes, stamp);
  }

  // Sets the stamp while other threads read the entry, or set the same stamp. Returns immediately,
  // without a write, if it is set already.
  void SetAccessStampShared(uint32_t stamp);

 protected:
  // A kind up to kMostShortBytes is the length of a short string.
  using Kind = uint8_t;
  static constexpr Kind kMostShortBytes = 240;
  static constexpr Kind kLongString = 241;
  static constexpr Kind kEditedString = 242;  // long or not
  static constexpr Kind kList = 243;
  static constexpr Kind kHash = 244;
  static constexpr Kind kSet = 245;
  static constexpr Kind kSortedSet = 246;
  static constexpr Kind kStream = 247;

  // Where there is room for a deadline.
  enum Room : uint8_t { kNoRoom, kSharedRoom, kFarRoom };

  // The room of a new entry, and its uninitialized memory.
  static Room RoomFor(size_t key_size, Kind kind, std::optional<Millis> deadline);
  static void* Allocate(size_t key_size, Kind kind, Room room);

  // Writes all parts except the value.
  EntryLayout(std::string_view key, Kind kind, Room room, std::optional<Millis> deadline);

  // The size of its allocation.
  size_t allocation() const { return AllocationFor(KeySize(), kind(), room()); }

  Kind kind() const { return kind_; }
  bool IsShortString() const { return kind_ <= kMostShortBytes; }

  // Changes the kind to one whose body takes as many bytes, or the length of a short string.
  void set_kind(Kind kind) { kind_ = kind; }

  // Whether a short string of another length would take the same allocation.
  bool FitsAs(Kind kind) const { return AllocationFor(KeySize(), kind, room()) == allocation(); }

  // Whether the entry has room for that deadline; a precondition of set_deadline().
  bool HasRoomFor(std::optional<Millis> deadline) const {
    return !deadline || room_ == kFarRoom || (room_ == kSharedRoom && MayShare(*deadline));
  }
  void set_deadline(std::optional<Millis> deadline);

  // The value: the bytes of a short string, or an object.
  const char* ShortBytes() const { return KeyBytes() + KeySize(); }
  char* ShortBytes() { return const_cast<char*>(std::as_const(*this).ShortBytes()); }
  template <class Body>
  const Body& BodyAs() const {
    return At<Body>(BodyOffset());
  }
  template <class Body>
  Body& BodyAs() {
    return At<Body>(BodyOffset());
  }

  // An address that is stored for the owner. On supported systems addresses have at most 47 bits by
  // default, and allocations start at multiples of 16.
  void* link() const {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(next_) << kZeroAddressBits);
  }
  void set_link(void* link) { next_ = reinterpret_cast<uintptr_t>(link) >> kZeroAddressBits; }

 private:
  static constexpr int kZeroAddressBits = 4;
  static constexpr uint8_t kLongKey = 127;
  static constexpr int kStampBytes = 3;

  static constexpr int kLowDeadlineBits = 40;  // of a deadline in shared room
  static constexpr uint64_t kLowDeadline = (uint64_t{1} << kLowDeadlineBits) - 1;
  static constexpr uint64_t kNoSharedDeadline = (uint64_t{1} << 44) - 1;
  static constexpr Millis kNoFarDeadline = Millis::min();  // a deadline in the past is never stored
  static bool MayShare(Millis deadline) {
    return deadline.count() >= 0 && static_cast<uint64_t>(deadline.count()) < kNoSharedDeadline;
  }

  static size_t AllocationFor(size_t key_size, Kind kind, Room room);
  static size_t BodyBytes(Kind kind);

  template <class T>
  const T& At(size_t offset) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(this) + offset);
  }
  template <class T>
  T& At(size_t offset) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(this) + offset);
  }
  Room room() const { return static_cast<Room>(room_); }
  bool HasLongKey() const { return key_size_ == kLongKey; }
  size_t DeadlineOffset() const { return sizeof(EntryLayout); }
  size_t LongSizeOffset() const { return DeadlineOffset() + (room_ ? sizeof(Millis) : 0); }
  size_t BodyOffset() const { return LongSizeOffset() + (HasLongKey() ? sizeof(size_t) : 0); }
  size_t KeyOffset() const {
    return BodyOffset() + (IsShortString() ? 0 : BodyBytes(kind_)) +
           (room_ == kSharedRoom ? 0 : kStampBytes);
  }
  size_t KeySize() const { return HasLongKey() ? At<size_t>(LongSizeOffset()) : key_size_; }
  const char* KeyBytes() const { return &At<char>(KeyOffset()); }
  const char* AccessStampAt() const {
    return room_ == kSharedRoom ? &At<char>(DeadlineOffset() + sizeof(Millis) - kStampBytes)
                                : KeyBytes() - kStampBytes;
  }

  uint64_t next_ : 43;
  uint64_t kind_ : 8;
  uint64_t key_size_ : 7;
  uint64_t room_ : 2;
  uint64_t high_deadline_ : 4;  // in shared room, of 44 bits
};

inline std::optional<Millis> EntryLayout::deadline() const {
  if (room_ == kNoRoom) return std::nullopt;
  if (room_ == kFarRoom) {
    const Millis deadline = At<Millis>(DeadlineOffset());
    return deadline == kNoFarDeadline ? std::nullopt : std::optional(deadline);
  }
  // Atomic because of SetAccessStampShared().
  const uint64_t word = __atomic_load_n(&At<uint64_t>(DeadlineOffset()), __ATOMIC_RELAXED);
  const uint64_t low = word & kLowDeadline;
  const uint64_t shared = uint64_t{high_deadline_} << kLowDeadlineBits | low;
  return shared == kNoSharedDeadline ? std::nullopt : std::optional(Millis(shared));
}

}  // namespace zsetd
