#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/keyspace/entry_layout.h"
#include "core/keyspace/value_types.h"
#include "core/util/time.h"

namespace zsetd {

// One key with its value, the stamp of its use and an optional deadline, in one allocation:
// core/keyspace/entry_layout.h. Its address changes only when it is reallocated: for another value,
// or for a deadline without room. All functions without a stated cost are O(1) plus the lengths of
// key and string.
class Entry : public EntryLayout {
 public:
  static std::unique_ptr<Entry> Make(std::string_view key, Value&& value,
                                     std::optional<Millis> deadline = std::nullopt);

  // An entry with the value and the stamp of `entry`, and with this key and deadline. Elements are
  // not touched.
  static std::unique_ptr<Entry> Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                       std::optional<Millis> deadline);

  // The same value and deadline at another key, as a new entry. O(n) for n elements.
  std::unique_ptr<Entry> Copy(std::string_view key) const;

  ~Entry();
  static void operator delete(Entry* entry, std::destroying_delete_t);

  // Whether the value is a ByteString, a List, a Hash, a Set, a SortedSet, a Stream.
  template <class T>
  bool Holds() const;

  // The value if it is of this type; else nullopt or null. A ByteString is returned as a view.
  template <class T>
  auto GetIf() const;
  template <class T>
  requires(!std::is_same_v<T, ByteString>) T* GetIf();

  // Calls visit with the value: a ByteString, a const List&, a const Hash& ...
  template <class Visit>
  decltype(auto) VisitValue(Visit visit) const;

  // The name that TYPE returns: "string", "list", "hash", "set", "zset", "stream".
  std::string_view TypeName() const;

  // Whether the value is an aggregate without elements. A keyspace never contains such a value,
  // except a stream, for which this is false.
  bool IsEmptyAggregate() const;

  // The earliest deadline of an element of the value; nullopt if no element has one. O(1), for a
  // small value O(n).
  std::optional<Millis> EarliestElementDeadline() const;

  // Whether freeing it may delay other clients noticeably.
  bool IsHeavy() const;

  // All memory of the entry: this allocation and the allocations of its value. O(chunks of a list).
  size_t BytesUsed() const;

  // Assigns these bytes to a short string in place. Returns false and changes nothing if the value
  // is not a short string, or the bytes need an allocation of another size.
  bool AssignInPlace(ByteString string);

  // Returns the text of a long string to be edited in place, and marks the string as edited. Null
  // for other values.
  std::string* StartEditing();

 private:
  friend class Keyspace;
  template <class Node, class Hash>
  friend class Dictionary;

  // The kind of a value's class; each class has one kind.
  template <class T>
  static constexpr Kind kKindOf = 0;

  using EntryLayout::EntryLayout;
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

  bool IsString() const { return kind() <= kEditedString; }
  ByteString AsString() const;

  // Calls visit with the object of any value except a short string: a std::string&, List&, ...
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

  // The next entry in the dictionary's bucket.
  Entry* next() const { return static_cast<Entry*>(link()); }
  void set_next(Entry* next) { set_link(next); }
};

template <>
inline constexpr Entry::Kind Entry::kKindOf<List> = Entry::kList;
template <>
inline constexpr Entry::Kind Entry::kKindOf<Hash> = Entry::kHash;
template <>
inline constexpr Entry::Kind Entry::kKindOf<Set> = Entry::kSet;
template <>
inline constexpr Entry::Kind Entry::kKindOf<SortedSet> = Entry::kSortedSet;
template <>
inline constexpr Entry::Kind Entry::kKindOf<Stream> = Entry::kStream;

template <class T>
bool Entry::Holds() const {
  if constexpr (std::is_same_v<T, ByteString>) {
    return IsString();
  } else {
    return kind() == kKindOf<T>;
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
  switch (self.kind()) {
    case kList:
      return visit(self.template BodyAs<List>());
    case kHash:
      return visit(self.template BodyAs<Hash>());
    case kSet:
      return visit(self.template BodyAs<Set>());
    case kSortedSet:
      return visit(self.template BodyAs<SortedSet>());
    case kStream:
      return visit(self.template BodyAs<Stream>());
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
