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

// Allocators give out such steps. Whatever fits in the same allocation can be assigned in place.
constexpr size_t kAllocationStep = 16;

}  // namespace

static_assert(sizeof(Entry) == 8 && alignof(Entry) == 8);
static_assert(alignof(List) <= alignof(Entry) && alignof(SortedSet) <= alignof(Entry) &&
              alignof(std::string) <= alignof(Entry));

std::unique_ptr<Entry> Entry::Make(std::string_view key, Value value,
                                   std::optional<Millis> deadline) {
  if (auto* list = std::get_if<List>(&value)) {
    return MakeWith(key, kList, std::move(*list), deadline);
  }
  if (auto* set = std::get_if<SortedSet>(&value)) {
    return MakeWith(key, kSortedSet, std::move(*set), deadline);
  }
  return MakeString(key, std::get<ByteString>(value), deadline);
}

std::unique_ptr<Entry> Entry::Remade(std::unique_ptr<Entry> entry, std::string_view key,
                                     std::optional<Millis> deadline) {
  if (entry->IsShortString()) return MakeString(key, entry->AsString(), deadline);
  if (auto* list = entry->GetIf<List>()) return MakeWith(key, kList, std::move(*list), deadline);
  if (auto* set = entry->GetIf<SortedSet>()) {
    return MakeWith(key, kSortedSet, std::move(*set), deadline);
  }
  return MakeWith(key, entry->kind_, std::move(entry->BodyAs<std::string>()), deadline);
}

std::unique_ptr<Entry> Entry::Copy(std::string_view key) const {
  if (const auto* list = GetIf<List>()) return MakeWith(key, kList, list->Clone(), deadline());
  if (const auto* set = GetIf<SortedSet>()) {
    return MakeWith(key, kSortedSet, set->Clone(), deadline());
  }
  return MakeString(key, AsString(), deadline());
}

std::unique_ptr<Entry> Entry::MakeString(std::string_view key, ByteString string,
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
  const size_t without = AllocationFor(key.size(), kind, false);
  const size_t with = AllocationFor(key.size(), kind, true);
  const bool has_room = deadline || with == without;
  void* memory = ::operator new(has_room ? with : without);
  return std::unique_ptr<Entry>(::new (memory) Entry(key, kind, has_room, deadline));
}

Entry::Entry(std::string_view key, Kind kind, bool has_room, std::optional<Millis> deadline)
    : next_(0),
      kind_(kind),
      key_size_(key.size() < kLongKey ? key.size() : kLongKey),
      has_room_(has_room) {
  if (has_room) set_deadline(deadline);
  if (HasLongKey()) At<size_t>(LongSizeOffset()) = key.size();
  key.copy(&At<char>(KeyOffset()), key.size());
}

Entry::~Entry() {
  if (IsShortString()) return;
  if (kind_ == kList) {
    std::destroy_at(&BodyAs<List>());
  } else if (kind_ == kSortedSet) {
    std::destroy_at(&BodyAs<SortedSet>());
  } else {
    std::destroy_at(&BodyAs<std::string>());
  }
}

// The allocator need not look up a size that it is told, and a sanitizer checks it.
void Entry::operator delete(Entry* entry, std::destroying_delete_t) {
  const size_t bytes = AllocationFor(entry->KeySize(), entry->kind_, entry->HasRoomForDeadline());
  std::destroy_at(entry);
  ::operator delete(entry, bytes);
}

void Entry::set_deadline(std::optional<Millis> deadline) {
  assert(HasRoomForDeadline() || !deadline);
  if (HasRoomForDeadline()) At<Millis>(DeadlineOffset()) = deadline.value_or(kNoDeadline);
}

std::string_view Entry::TypeName() const {
  if (kind_ == kList) return "list";
  return kind_ == kSortedSet ? "zset" : "string";
}

bool Entry::IsEmptyAggregate() const {
  if (const auto* list = GetIf<List>()) return list->empty();
  if (const auto* set = GetIf<SortedSet>()) return set->empty();
  return false;
}

bool Entry::IsHeavy() const {
  if (const auto* set = GetIf<SortedSet>()) return set->size() > kLightElements;
  if (const auto* list = GetIf<List>()) {
    return list->packed_bytes() > kLightBytes || list->size() > kLightElements;
  }
  return AsString().view().size() > kLightBytes;
}

size_t Entry::BytesUsed() const {
  const size_t own = AllocatedBytes(this);
  if (const auto* list = GetIf<List>()) return own + list->BytesUsed();
  if (const auto* set = GetIf<SortedSet>()) return own + set->BytesUsed();
  return IsShortString() ? own : own + AllocatedBytes(BodyAs<std::string>());
}

bool Entry::AssignInPlace(ByteString string) {
  const std::string_view bytes = string.view();
  const bool both_short = IsShortString() && bytes.size() <= kMostShortBytes;
  if (!both_short || string.edited_in_place()) return false;
  const Kind kind = static_cast<Kind>(bytes.size());
  const auto allocation_for = [this](Kind some_kind) {
    return AllocationFor(KeySize(), some_kind, HasRoomForDeadline());
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
  if (kind <= kMostShortBytes) return 0;
  if (kind <= kEditedString) return sizeof(std::string);
  return kind == kList ? sizeof(List) : sizeof(SortedSet);
}

size_t Entry::AllocationFor(size_t key_size, Kind kind, bool has_room) {
  const size_t long_size_bytes = key_size < kLongKey ? 0 : sizeof(size_t);
  const size_t value_bytes = kind <= kMostShortBytes ? kind : BodyBytes(kind);
  const size_t needed =
      sizeof(Entry) + (has_room ? sizeof(Millis) : 0) + long_size_bytes + key_size + value_bytes;
  return (needed + kAllocationStep - 1) / kAllocationStep * kAllocationStep;
}

ByteString Entry::AsString() const {
  assert(IsString());
  if (IsShortString()) return ByteString(std::string_view(KeyBytes() + KeySize(), kind_));
  return ByteString(BodyAs<std::string>(), kind_ == kEditedString);
}

}  // namespace zsetd
