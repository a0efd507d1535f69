#include "core/keyspace/keyspace.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace zsetd {
namespace {

// Removes the entry from the part of an index that has it.
void RemoveFrom(ExpiryIndex& index, ExpiryIndex& aside, Millis deadline, Entry& entry) {
  const bool is_aside = aside.size() > 0 && aside.Contains(deadline, entry);
  (is_aside ? aside : index).Remove(deadline, entry);
}

}  // namespace

Keyspace::Keyspace(uint64_t hash_seed, KeyArrangement arrangement)
    : entries_(hash_seed, arrangement) {}

Keyspace::Keyspace(Keyspace&& other) noexcept
    : entries_(std::move(other.entries_)),
      deadlines_(std::move(other.deadlines_)),
      element_deadlines_(std::move(other.element_deadlines_)),
      deadlines_aside_(std::move(other.deadlines_aside_)),
      element_deadlines_aside_(std::move(other.element_deadlines_aside_)),
      with_element_deadlines_(std::exchange(other.with_element_deadlines_, 0)),
      hashes_with_deadlines_(std::exchange(other.hashes_with_deadlines_, 0)),
      now_(other.now_) {}

Keyspace& Keyspace::operator=(Keyspace&& other) noexcept {
  entries_ = std::move(other.entries_);
  deadlines_ = std::move(other.deadlines_);
  element_deadlines_ = std::move(other.element_deadlines_);
  deadlines_aside_ = std::move(other.deadlines_aside_);
  element_deadlines_aside_ = std::move(other.element_deadlines_aside_);
  with_element_deadlines_ = std::exchange(other.with_element_deadlines_, 0);
  hashes_with_deadlines_ = std::exchange(other.hashes_with_deadlines_, 0);
  now_ = other.now_;
  return *this;
}

Keyspace::~Keyspace() = default;

const Entry* Keyspace::Find(std::string_view key) const {
  const Entry* entry = entries_.Find(key);
  return entry != nullptr && !IsDue(*entry) ? entry : nullptr;
}

Entry& Keyspace::Insert(std::unique_ptr<Entry> entry) {
  Index(*entry);
  return entries_.Insert(std::move(entry));
}

std::unique_ptr<Entry> Keyspace::Replace(Entry& old, std::unique_ptr<Entry> fresh) {
  Unindex(old);
  Index(*fresh);
  return entries_.Replace(old, std::move(fresh));
}

std::unique_ptr<Entry> Keyspace::Extract(Entry& entry) {
  Unindex(entry);
  return entries_.Extract(entry);
}

Entry& Keyspace::SetDeadline(Entry& entry, std::optional<Millis> deadline) {
  if (deadline == entry.deadline()) return entry;
  if (!entry.HasRoomFor(deadline)) {
    return Insert(Entry::Remade(Extract(entry), entry.key(), deadline));
  }
  Unindex(entry);
  entry.set_deadline(deadline);
  Index(entry);
  return entry;
}

void Keyspace::Index(Entry& entry) {
  if (entry.deadline()) deadlines_.Add(*entry.deadline(), entry);
  const std::optional<Millis> earliest = entry.EarliestElementDeadline();
  if (earliest) AddElementDeadline(*earliest, entry);
}

void Keyspace::Unindex(Entry& entry) {
  if (entry.deadline()) RemoveFrom(deadlines_, deadlines_aside_, *entry.deadline(), entry);
  const std::optional<Millis> earliest = entry.EarliestElementDeadline();
  if (earliest) RemoveElementDeadline(*earliest, entry);
}

void Keyspace::AddElementDeadline(Millis earliest, Entry& entry) {
  element_deadlines_.Add(earliest, entry);
  ++with_element_deadlines_;
  hashes_with_deadlines_ += entry.Holds<Hash>();
}

void Keyspace::RemoveElementDeadline(Millis earliest, Entry& entry) {
  RemoveFrom(element_deadlines_, element_deadlines_aside_, earliest, entry);
  --with_element_deadlines_;
  hashes_with_deadlines_ -= entry.Holds<Hash>();
}

void Keyspace::ElementDeadlineChanged(Entry& entry, std::optional<Millis> before) {
  const std::optional<Millis> earliest = entry.EarliestElementDeadline();
  if (before == earliest) return;
  if (before) RemoveElementDeadline(*before, entry);
  if (earliest) AddElementDeadline(*earliest, entry);
}

bool Keyspace::HasDueElement() const {
  const Entry* earliest = element_deadlines_.Earliest();
  return earliest != nullptr && HasDueElement(*earliest);
}

Entry* Keyspace::FirstWithDueElement() {
  return HasDueElement() ? element_deadlines_.Earliest() : nullptr;
}

Entry* Keyspace::FirstDue() {
  Entry* earliest = deadlines_.Earliest();
  return earliest != nullptr && IsDue(*earliest) ? earliest : nullptr;
}

void Keyspace::SetAsideDue(Entry& entry) {
  assert(IsDue(entry) && IsHidden(entry));
  deadlines_.Remove(*entry.deadline(), entry);
  deadlines_aside_.Add(*entry.deadline(), entry);
}

void Keyspace::SetAsideDueElement(Entry& entry) {
  assert(HasDueElement(entry) && IsHidden(entry));
  const Millis earliest = *entry.EarliestElementDeadline();
  element_deadlines_.Remove(earliest, entry);
  element_deadlines_aside_.Add(earliest, entry);
}

// Entries that stay hidden are set aside again when they are found.
void Keyspace::set_hidden_slots(const SlotFlags* slots) {
  hidden_slots_ = slots;
  while (Entry* const entry = deadlines_aside_.Earliest()) {
    deadlines_aside_.Remove(*entry->deadline(), *entry);
    deadlines_.Add(*entry->deadline(), *entry);
  }
  while (Entry* const entry = element_deadlines_aside_.Earliest()) {
    const Millis earliest = *entry->EarliestElementDeadline();
    element_deadlines_aside_.Remove(earliest, *entry);
    element_deadlines_.Add(earliest, *entry);
  }
}

std::optional<Millis> Keyspace::NextDeadline() const {
  const Entry* first_key = deadlines_.Earliest();
  const Entry* first_element = element_deadlines_.Earliest();
  std::optional<Millis> next;
  if (first_key != nullptr) next = first_key->deadline();
  if (first_element == nullptr) return next;
  const std::optional<Millis> of_element = first_element->EarliestElementDeadline();
  return next ? std::min(*next, *of_element) : of_element;
}

const Entry* Keyspace::Random(Rng& rng) const {
  constexpr int kDraws = 100;
  if (AllDue() || visible_size() == 0) return nullptr;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Entry* entry = entries_.Random(rng);
    if (!IsDue(*entry) && !IsHidden(*entry)) return entry;
  }
  return FirstOfScan();  // nearly all entries are due or hidden
}

// Probing takes size() / with_deadline() draws on average. A draw takes about as long as the index
// takes to pass the blocks of 200,000 entries.
const Entry* Keyspace::RandomWithDeadline(Rng& rng) const {
  constexpr size_t kEntriesPerDraw = 200'000;
  constexpr int kMostDraws = 200;
  const bool probes = with_deadline() * with_deadline() > kEntriesPerDraw * size();
  for (int draw = 0; draw < kMostDraws && probes; ++draw) {
    const Entry* entry = entries_.Random(rng);
    if (entry->deadline()) return entry;
  }
  return deadlines_.Random(rng);
}

size_t Keyspace::visible_size() const {
  size_t visible = size();
  if (hidden_slots_ == nullptr) [[likely]]
    return visible;
  for (size_t slot = 0; slot < kSlotCount; ++slot) {
    if ((*hidden_slots_)[slot]) visible -= CountInSlot(slot);
  }
  return visible;
}

bool Keyspace::AllDue() const {
  if (with_deadline() < entries_.size()) return false;
  const Entry* latest = deadlines_.Latest();
  return latest == nullptr || IsDue(*latest);
}

const Entry* Keyspace::FirstOfScan() const {
  const Entry* found = nullptr;
  uint64_t cursor = 0;
  do {
    cursor = Scan(cursor, [&](const Entry& entry) {
      if (!IsHidden(entry)) found = &entry;
    });
  } while (found == nullptr && cursor != 0);
  return found;
}

size_t Keyspace::BytesUsedBy(const Entry& entry) const {
  const size_t deadlines =
      entry.deadline().has_value() + entry.EarliestElementDeadline().has_value();
  return entry.BytesUsed() + Dictionary<Entry>::kBytesPerNode +
         deadlines * ExpiryIndex::kBytesPerEntry;
}

Millis Keyspace::AverageTimeToLive() const {
  return deadlines_.size() == 0 ? Millis(0) : std::max(deadlines_.Mean() - now_, Millis(0));
}

size_t Keyspace::OverheadBytes() const {
  return entries_.BytesUsed() + deadlines_.BytesUsed() + element_deadlines_.BytesUsed() +
         deadlines_aside_.BytesUsed() + element_deadlines_aside_.BytesUsed();
}

}  // namespace zsetd
