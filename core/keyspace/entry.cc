#include "core/keyspace/entry.h"

#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "core/keyspace/value.h"
#include "core/util/allocation.h"

namespace zsetd {
namespace {

// Values up to these limits take at most some tens of microseconds to free.
constexpr size_t kLightBytes = 1 << 20;
constexpr size_t kLightElements = 4096;

bool IsHeavyValue(const ByteString& string) { return string.view().size() > kLightBytes; }
bool IsHeavyValue(const List& list) {
  return list.packed_bytes() > kLightBytes || list.size() > kLightElements;
}
template <class Table>
bool IsHeavyValue(const Table& table) {
  return table.size() > kLightElements || table.BytesUsed() > kLightBytes;
}
bool IsHeavyValue(const SortedSet& set) { return set.size() > kLightElements; }
bool IsHeavyValue(const Stream& stream) {
  return stream.size() > kLightElements || stream.BytesUsed() > kLightBytes;
}

size_t HeapBytes(const std::string& text) { return AllocatedBytes(text); }
template <class Aggregate>
size_t HeapBytes(const Aggregate& aggregate) {
  return aggregate.BytesUsed();
}

}  // namespace

static_assert(sizeof(Entry) == 8 && alignof(Entry) == 8);

std::unique_ptr<Entry> Entry::Make(std::string_view key, Value&& value,
                                   std::optional<Millis> deadline) {
  return std::visit([&](auto& held) { return MakeOf(key, std::move(held), deadline); }, value);
}

std::unique_ptr<Entry> Entry::Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                     std::optional<Millis> deadline) {
  std::unique_ptr<Entry> remade =
      entry->IsShortString() ? MakeOf(key, entry->AsString(), deadline)
                             : entry->VisitBody([&](auto& body) {
                                 return MakeWith(key, entry->kind(), std::move(body), deadline);
                               });
  remade->set_access_stamp(entry->access_stamp());
  return remade;
}

std::unique_ptr<Entry> Entry::Copy(std::string_view key) const {
  return VisitValue([&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString>) {
      return MakeOf(key, value, deadline());
    } else {
      return MakeOf(key, value.Clone(), deadline());
    }
  });
}

template <class Aggregate>
std::unique_ptr<Entry> Entry::MakeOf(std::string_view key, Aggregate aggregate,
                                     std::optional<Millis> deadline) {
  return MakeWith(key, kKindOf<Aggregate>, std::move(aggregate), deadline);
}

std::unique_ptr<Entry> Entry::MakeOf(std::string_view key, ByteString string,
                                     std::optional<Millis> deadline) {
  const std::string_view bytes = string.view();
  if (string.edited_in_place()) return MakeWith(key, kEditedString, std::string(bytes), deadline);
  if (bytes.size() > kMostShortBytes) {
    return MakeWith(key, kLongString, std::string(bytes), deadline);
  }
  std::unique_ptr<Entry> entry = New(key, static_cast<Kind>(bytes.size()), deadline);
  bytes.copy(entry->ShortBytes(), bytes.size());
  return entry;
}

template <class Body>
std::unique_ptr<Entry> Entry::MakeWith(std::string_view key, Kind kind, Body body,
                                       std::optional<Millis> deadline) {
  std::unique_ptr<Entry> entry = New(key, kind, deadline);
  ::new (&entry->BodyAs<Body>()) Body(std::move(body));
  return entry;
}

std::unique_ptr<Entry> Entry::New(std::string_view key, Kind kind, std::optional<Millis> deadline) {
  const Room room = RoomFor(key.size(), kind, deadline);
  void* memory = Allocate(key.size(), kind, room);
  return std::unique_ptr<Entry>(::new (memory) Entry(key, kind, room, deadline));
}

Entry::~Entry() {
  if (!IsShortString()) VisitBody([](auto& body) { std::destroy_at(&body); });
}

// Sized deallocation saves the allocator a lookup, and a sanitizer checks the size.
void Entry::operator delete(Entry* entry, std::destroying_delete_t) {
  const size_t bytes = entry->allocation();
  std::destroy_at(entry);
  ::operator delete(entry, bytes);
}

std::string_view Entry::TypeName() const {
  switch (kind()) {
    case kList:
      return "list";
    case kHash:
      return "hash";
    case kSet:
      return "set";
    case kSortedSet:
      return "zset";
    case kStream:
      return "stream";
    default:
      return "string";
  }
}

bool Entry::IsEmptyAggregate() const {
  return VisitValue([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString> || std::is_same_v<T, Stream>) {
      return false;
    } else {
      return value.empty();
    }
  });
}

std::optional<Millis> Entry::EarliestElementDeadline() const {
  if (kind() == kSortedSet) return BodyAs<SortedSet>().EarliestDeadline();
  return kind() == kHash ? BodyAs<Hash>().EarliestDeadline() : std::nullopt;
}

bool Entry::IsHeavy() const {
  return VisitValue([](const auto& value) { return IsHeavyValue(value); });
}

size_t Entry::BytesUsed() const {
  const size_t own = AllocatedBytes(this);
  if (IsShortString()) return own;
  return VisitBody([&](const auto& body) { return own + HeapBytes(body); });
}

bool Entry::AssignInPlace(ByteString string) {
  const std::string_view bytes = string.view();
  const bool both_short = IsShortString() && bytes.size() <= kMostShortBytes;
  if (!both_short || string.edited_in_place()) return false;
  const Kind kind = static_cast<Kind>(bytes.size());
  if (!FitsAs(kind)) return false;
  std::char_traits<char>::move(ShortBytes(), bytes.data(), bytes.size());
  set_kind(kind);
  return true;
}

std::string* Entry::StartEditing() {
  if (IsShortString() || !IsString()) return nullptr;
  set_kind(kEditedString);
  return &BodyAs<std::string>();
}

ByteString Entry::AsString() const {
  assert(IsString());
  if (IsShortString()) return ByteString(std::string_view(ShortBytes(), kind()));
  return ByteString(BodyAs<std::string>(), kind() == kEditedString);
}

}  // namespace zsetd
