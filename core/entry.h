// A key, its value and its deadline, in one allocation of just the size they need.
//
//      6      1      1       8 or 0       8 or 0    8 to 32 or 0
//   [ next | kind | length | deadline | long length | body | key bytes | value bytes ]
//
// `kind` tells a short string, of so many value bytes, from all other values, whose body is an
// object: a long string, a list, a hash, a set, a sorted set. `length` is the key's, in seven bits;
// keys that are longer than these can tell have a long length. The eighth bit says whether there is
// room for a deadline: that is made when it is needed, or when the allocator's rounding gives it
// for nothing. So a key of 14 bytes with a value of 18 takes 48 with a deadline as without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

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

  // The value of `entry` with this key and this deadline. No element is touched.
  static std::unique_ptr<Entry> Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                       std::optional<Millis> deadline);

  // The same value and deadline at another key. O(n) for n elements.
  std::unique_ptr<Entry> Copy(std::string_view key) const;

  ~Entry();
  static void operator delete(Entry* entry, std::destroying_delete_t);

  std::string_view key() const { return {KeyBytes(), KeySize()}; }
  std::optional<Millis> deadline() const;

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
  static constexpr Millis kNoDeadline = Millis::min();  // nothing that is past already gets in

  Entry(std::string_view key, Kind kind, bool has_room, std::optional<Millis> deadline);
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
  static size_t AllocationFor(size_t key_size, Kind kind, bool has_room);

  bool IsShortString() const { return kind_ <= kMostShortBytes; }
  bool IsString() const { return kind_ <= kEditedString; }
  ByteString AsString() const;

  // For the keyspace, which knows where deadlines are looked for. There is room for it, or none is
  // given.
  bool HasRoomForDeadline() const { return has_room_ != 0; }
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
  size_t LongSizeOffset() const { return DeadlineOffset() + (has_room_ ? sizeof(Millis) : 0); }
  size_t BodyOffset() const { return LongSizeOffset() + (HasLongKey() ? sizeof(size_t) : 0); }
  size_t KeyOffset() const { return BodyOffset() + (IsShortString() ? 0 : BodyBytes(kind_)); }
  size_t KeySize() const { return HasLongKey() ? At<size_t>(LongSizeOffset()) : key_size_; }
  const char* KeyBytes() const { return &At<char>(KeyOffset()); }
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
  // bits unasked.
  Entry* next() const { return reinterpret_cast<Entry*>(static_cast<uintptr_t>(next_)); }
  void set_next(Entry* next) { next_ = reinterpret_cast<uintptr_t>(next); }

  uint64_t next_ : 48;
  uint64_t kind_ : 8;
  uint64_t key_size_ : 7;
  uint64_t has_room_ : 1;  // for a deadline
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
  if (!HasRoomForDeadline()) return std::nullopt;
  const Millis deadline = At<Millis>(DeadlineOffset());
  return deadline == kNoDeadline ? std::nullopt : std::optional(deadline);
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
