#include "core/entry.h"

#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "core/allocation.h"

namespace zsetd {
namespace {

// Some tens of microseconds to free.
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

size_t HeapBytes(const std::string& text) { return AllocatedBytes(text); }
template <class Aggregate>
size_t HeapBytes(const Aggregate& aggregate) {
  return aggregate.BytesUsed();
}

// Allocators give out such steps. Whatever fits in the same allocation can be assigned in place.
constexpr size_t kAllocationStep = 16;

}  // namespace

static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);  // so addresses end in four zero bits
static_assert(sizeof(Entry) == 8 && alignof(Entry) == 8);
static_assert(alignof(List) <= alignof(Entry) && alignof(Hash) <= alignof(Entry) &&
              alignof(Set) <= alignof(Entry) && alignof(SortedSet) <= alignof(Entry) &&
              alignof(std::string) <= alignof(Entry));

std::unique_ptr<Entry> Entry::Make(std::string_view key, Value value,
                                   std::optional<Millis> deadline) {
  return std::visit([&](auto& held) { return MakeOf(key, std::move(held), deadline); }, value);
}

std::unique_ptr<Entry> Entry::Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                     std::optional<Millis> deadline) {
  std::unique_ptr<Entry> remade =
      entry->IsShortString() ? MakeOf(key, entry->AsString(), deadline)
                             : entry->VisitBody([&](auto& body) {
                                 return MakeWith(key, entry->kind_, std::move(body), deadline);
                               });
  remade->set_use_mark(entry->use_mark());
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
  void* memory = ::operator new(AllocationFor(key.size(), kind, room));
  return std::unique_ptr<Entry>(::new (memory) Entry(key, kind, room, deadline));
}

Entry::Room Entry::RoomFor(size_t key_size, Kind kind, std::optional<Millis> deadline) {
  if (deadline) return MayShare(*deadline) ? kSharedRoom : kFarRoom;
  const size_t without = AllocationFor(key_size, kind, kNoRoom);
  return AllocationFor(key_size, kind, kSharedRoom) == without ? kSharedRoom : kNoRoom;
}

Entry::Entry(std::string_view key, Kind kind, Room room, std::optional<Millis> deadline)
    : next_(0),
      kind_(kind),
      key_size_(key.size() < kLongKey ? key.size() : kLongKey),
      room_(room),
      high_deadline_(0) {
  if (room != kNoRoom) At<uint64_t>(DeadlineOffset()) = 0;
  set_deadline(deadline);
  if (HasLongKey()) At<size_t>(LongSizeOffset()) = key.size();
  set_use_mark(0);
  key.copy(&At<char>(KeyOffset()), key.size());
}

Entry::~Entry() {
  if (!IsShortString()) VisitBody([](auto& body) { std::destroy_at(&body); });
}

// The allocator need not look up a size that it is told, and a sanitizer checks it.
void Entry::operator delete(Entry* entry, std::destroying_delete_t) {
  const size_t bytes =
      AllocationFor(entry->KeySize(), entry->kind_, static_cast<Room>(entry->room_));
  std::destroy_at(entry);
  ::operator delete(entry, bytes);
}

void Entry::set_deadline(std::optional<Millis> deadline) {
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

std::string_view Entry::TypeName() const {
  switch (kind_) {
    case kList:
      return "list";
    case kHash:
      return "hash";
    case kSet:
      return "set";
    case kSortedSet:
      return "zset";
    default:
      return "string";
  }
}

bool Entry::IsEmptyAggregate() const {
  return VisitValue([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString>) {
      return false;
    } else {
      return value.empty();
    }
  });
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
  const auto allocation_for = [this](Kind some_kind) {
    return AllocationFor(KeySize(), some_kind, static_cast<Room>(room_));
  };
  if (allocation_for(kind) != allocation_for(kind_)) return false;
  std::char_traits<char>::move(ShortBytes(), bytes.data(), bytes.size());
  kind_ = kind;
  return true;
}

std::string* Entry::StartEditing() {
  if (IsShortString() || !IsString()) return nullptr;
  kind_ = kEditedString;
  return &BodyAs<std::string>();
}

size_t Entry::BodyBytes(Kind kind) {
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
    default:
      return 0;
  }
}

size_t Entry::AllocationFor(size_t key_size, Kind kind, Room room) {
  const size_t deadline_bytes = room == kNoRoom ? 0 : sizeof(Millis);
  const size_t mark_bytes = room == kSharedRoom ? 0 : kMarkBytes;
  const size_t long_size_bytes = key_size < kLongKey ? 0 : sizeof(size_t);
  const size_t value_bytes = kind <= kMostShortBytes ? kind : BodyBytes(kind);
  const size_t needed =
      sizeof(Entry) + deadline_bytes + mark_bytes + long_size_bytes + key_size + value_bytes;
  return (needed + kAllocationStep - 1) / kAllocationStep * kAllocationStep;
}

ByteString Entry::AsString() const {
  assert(IsString());
  if (IsShortString()) return ByteString(std::string_view(KeyBytes() + KeySize(), kind_));
  return ByteString(BodyAs<std::string>(), kind_ == kEditedString);
}

}  // namespace zsetd
