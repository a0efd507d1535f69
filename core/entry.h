// A key, its value, its deadline and a mark of its use, in one allocation of just the size they need.
//
//     8       8 or 0       8 or 0    8 to 32 or 0  3 or 0
//   [ head | deadline | long length | body       | mark | key bytes | value bytes ]
//
//   head   [ next: 43 | kind: 8 | length: 7 | room: 2 | first bits of the deadline: 4 ]
//
// `kind` tells a short string, of so many value bytes, from all other values, whose body is an
// object: a long string, a list, a hash, a set, a sorted set. `length` is the key's, in seven bits;
// keys that are longer than these can tell have a long length. `room` tells of the room for a
// deadline: that is made when it is needed, or when the allocator's rounding gives it for nothing.
// The mark shares it, for milliseconds that are not far off take 44 bits, of which the head holds
// four:
//
//   no room      mark before the key; there is no deadline
//   shared       [ deadline: 40 | mark: 24 ]; up to the year 2527
//   far          [ deadline: 64 ], and the mark before the key
//
// So a key of 14 bytes with a value of 18 takes 48 with a deadline as without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/packed_integer.h"
#include "core/time.h"
#include "core/value.h"

namespace zsetd {

// One key with its value and, if it has one, its deadline. Its address stays the same until it is
// made anew: for another value or, if there is no room for it, for a deadline. All O(1) and the
// lengths of key and string, but for what names another cost.
class Entry {
 public:
  static std::unique_ptr<Entry> Make(std::string_view key, Value value,
                                     std::optional<Millis> deadline = std::nullopt);

  // The value and the mark of `entry` with this key and this deadline. No element is touched.
  static std::unique_ptr<Entry> Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                       std::optional<Millis> deadline);

  // The same value and deadline at another key, as a new entry. O(n) for n elements.
  std::unique_ptr<Entry> Copy(std::string_view key) const;

  ~Entry();
  static void operator delete(Entry* entry, std::destroying_delete_t);

  std::string_view key() const { return {KeyBytes(), KeySize()}; }
  std::optional<Millis> deadline() const;

  // What a UseMeter has noted here, 24 bits; 0 in a new entry.
  uint32_t use_mark() const { return static_cast<uint32_t>(LoadPacked(UseMarkAt(), kMarkBytes)); }
  void set_use_mark(uint32_t mark) {
    StorePacked(const_cast<char*>(UseMarkAt()), kMarkBytes, mark);
  }

  // Whether the value is a ByteString, a List, a Hash, a Set, a SortedSet.
  template <class T>
  bool Holds() const;

  // The value, where it is of this type; else nothing, or null. A ByteString comes as a view.
  template <class T>
  auto GetIf() const;
  template <class T>
  requires(!std::is_same_v<T, ByteString>) T* GetIf();

  // Calls visit with the value: a ByteString, a const List&, a const Hash& ...
  template <class Visit>
  decltype(auto) VisitValue(Visit visit) const;

  // The name TYPE gives: "string", "list", "hash", "set", "zset".
  std::string_view TypeName() const;

  // Whether it is an aggregate without elements; a key never keeps such a value.
  bool IsEmptyAggregate() const;

  // Whether freeing it may take so long that other clients would notice.
  bool IsHeavy() const;

  // Everything the entry takes: this allocation and what its body owns. O(chunks of a list).
  size_t BytesUsed() const;

  // Makes a short string hold these bytes where it stands. False, and nothing is changed, if the
  // value is another, or the bytes need an allocation of another size.
  bool AssignInPlace(ByteString string);

  // The text of a long string to be edited in place, as which it counts from now on. Null for other
  // values.
  std::string* StartEditing();

 private:
  friend class Keyspace;
  template <class Node>
  friend class Dictionary;

  // Up to kMostShortBytes it is the length of a short string.
  using Kind = uint8_t;
  static constexpr Kind kMostShortBytes = 240;
  static constexpr Kind kLongString = 241;
  static constexpr Kind kEditedString = 242;  // long or not
  static constexpr Kind kList = 243;
  static constexpr Kind kHash = 244;
  static constexpr Kind kSet = 245;
  static constexpr Kind kSortedSet = 246;

  // Of the value's class, of which each object is of one kind.
  template <class T>
  static constexpr Kind kKindOf = 0;

  static constexpr uint8_t kLongKey = 127;

  static constexpr int kMarkBytes = 3;

  // Where there is room for a deadline.
  enum Room : uint8_t { kNoRoom, kSharedRoom, kFarRoom };
  static constexpr int kLowDeadlineBits = 40;  // of those in shared room
  static constexpr uint64_t kLowDeadline = (uint64_t{1} << kLowDeadlineBits) - 1;
  static constexpr uint64_t kNoSharedDeadline = (uint64_t{1} << 44) - 1;
  static constexpr Millis kNoFarDeadline = Millis::min();  // nothing that is past already gets in

  Entry(std::string_view key, Kind kind, Room room, std::optional<Millis> deadline);
  static std::unique_ptr<Entry> New(std::string_view key, Kind kind,
                                    std::optional<Millis> deadline);
  template <class Body>
  static std::unique_ptr<Entry> MakeWith(std::string_view key, Kind kind, Body body,
                                         std::optional<Millis> deadline);
  static std::unique_ptr<Entry> MakeOf(std::string_view key, ByteString string,
                                       std::optional<Millis> deadline);
  template <class Aggregate>
  static std::unique_ptr<Entry> MakeOf(std::string_view key, Aggregate aggregate,
                                       std::optional<Millis> deadline);

  static size_t BodyBytes(Kind kind);
  static size_t AllocationFor(size_t key_size, Kind kind, Room room);
  static bool MayShare(Millis deadline) {
    return deadline.count() >= 0 && static_cast<uint64_t>(deadline.count()) < kNoSharedDeadline;
  }
  static Room RoomFor(size_t key_size, Kind kind, std::optional<Millis> deadline);

  bool IsShortString() const { return kind_ <= kMostShortBytes; }
  bool IsString() const { return kind_ <= kEditedString; }
  ByteString AsString() const;

  // For the keyspace, which knows where deadlines are looked for. There is room for it, or none is
  // given.
  bool HasRoomFor(std::optional<Millis> deadline) const {
    return !deadline || room_ == kFarRoom || (room_ == kSharedRoom && MayShare(*deadline));
  }
  void set_deadline(std::optional<Millis> deadline);

  template <class T>
  const T& At(size_t offset) const {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(this) + offset);
  }
  template <class T>
  T& At(size_t offset) {
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(this) + offset);
  }
  bool HasLongKey() const { return key_size_ == kLongKey; }
  size_t DeadlineOffset() const { return sizeof(Entry); }
  size_t LongSizeOffset() const { return DeadlineOffset() + (room_ ? sizeof(Millis) : 0); }
  size_t BodyOffset() const { return LongSizeOffset() + (HasLongKey() ? sizeof(size_t) : 0); }
  size_t KeyOffset() const {
    return BodyOffset() + (IsShortString() ? 0 : BodyBytes(kind_)) +
           (room_ == kSharedRoom ? 0 : kMarkBytes);
  }
  size_t KeySize() const { return HasLongKey() ? At<size_t>(LongSizeOffset()) : key_size_; }
  const char* KeyBytes() const { return &At<char>(KeyOffset()); }
  const char* UseMarkAt() const {
    return room_ == kSharedRoom ? &At<char>(DeadlineOffset() + sizeof(Millis) - kMarkBytes)
                                : KeyBytes() - kMarkBytes;
  }
  char* ShortBytes() { return &At<char>(KeyOffset() + KeySize()); }

  template <class Body>
  const Body& BodyAs() const {
    return At<Body>(BodyOffset());
  }
  template <class Body>
  Body& BodyAs() {
    return At<Body>(BodyOffset());
  }

  // Calls visit with the object of any value but a short string: a std::string&, List&, ...
  template <class Visit>
  decltype(auto) VisitBody(Visit visit) const {
    return VisitBodyOf(*this, visit);
  }
  template <class Visit>
  decltype(auto) VisitBody(Visit visit) {
    return VisitBodyOf(*this, visit);
  }
  template <class Self, class Visit>
  static decltype(auto) VisitBodyOf(Self& self, Visit visit);

  // In its bucket of the dictionary. No system of ours gives a program addresses of more than 47
  // bits unasked, and allocations start at multiples of 16.
  static constexpr int kZeroAddressBits = 4;
  Entry* next() const {
    return reinterpret_cast<Entry*>(static_cast<uintptr_t>(next_) << kZeroAddressBits);
  }
  void set_next(Entry* next) { next_ = reinterpret_cast<uintptr_t>(next) >> kZeroAddressBits; }

  uint64_t next_ : 43;
  uint64_t kind_ : 8;
  uint64_t key_size_ : 7;
  uint64_t room_ : 2;
  uint64_t high_deadline_ : 4;  // in shared room, of 44 bits
};

template <>
inline constexpr Entry::Kind Entry::kKindOf<List> = Entry::kList;
template <>
inline constexpr Entry::Kind Entry::kKindOf<Hash> = Entry::kHash;
template <>
inline constexpr Entry::Kind Entry::kKindOf<Set> = Entry::kSet;
template <>
inline constexpr Entry::Kind Entry::kKindOf<SortedSet> = Entry::kSortedSet;

inline std::optional<Millis> Entry::deadline() const {
  if (room_ == kNoRoom) return std::nullopt;
  if (room_ == kFarRoom) {
    const Millis deadline = At<Millis>(DeadlineOffset());
    return deadline == kNoFarDeadline ? std::nullopt : std::optional(deadline);
  }
  const uint64_t low = At<uint64_t>(DeadlineOffset()) & kLowDeadline;
  const uint64_t shared = uint64_t{high_deadline_} << kLowDeadlineBits | low;
  return shared == kNoSharedDeadline ? std::nullopt : std::optional(Millis(shared));
}

template <class T>
bool Entry::Holds() const {
  if constexpr (std::is_same_v<T, ByteString>) {
    return IsString();
  } else {
    return kind_ == kKindOf<T>;
  }
}

template <class T>
auto Entry::GetIf() const {
  if constexpr (std::is_same_v<T, ByteString>) {
    return IsString() ? std::optional(AsString()) : std::nullopt;
  } else {
    return Holds<T>() ? &BodyAs<T>() : nullptr;
  }
}

template <class T>
requires(!std::is_same_v<T, ByteString>) T* Entry::GetIf() {
  return Holds<T>() ? &BodyAs<T>() : nullptr;
}

template <class Self, class Visit>
decltype(auto) Entry::VisitBodyOf(Self& self, Visit visit) {
  switch (self.kind_) {
    case kList:
      return visit(self.template BodyAs<List>());
    case kHash:
      return visit(self.template BodyAs<Hash>());
    case kSet:
      return visit(self.template BodyAs<Set>());
    case kSortedSet:
      return visit(self.template BodyAs<SortedSet>());
    default:
      return visit(self.template BodyAs<std::string>());
  }
}

template <class Visit>
decltype(auto) Entry::VisitValue(Visit visit) const {
  if (IsShortString()) return visit(AsString());
  return VisitBody([&]<class Body>(const Body& body) -> decltype(auto) {
    if constexpr (std::is_same_v<Body, std::string>) {
      return visit(AsString());
    } else {
      return visit(body);
    }
  });
}

}  // namespace zsetd
