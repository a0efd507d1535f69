#include "core/keyspace.h"

#include <algorithm>
#include <utility>

namespace zsetd {

Keyspace::Keyspace(uint64_t hash_seed) : entries_(hash_seed) {}
Keyspace::Keyspace(Keyspace&&) noexcept = default;
Keyspace& Keyspace::operator=(Keyspace&&) noexcept = default;
Keyspace::~Keyspace() = default;

Entry* Keyspace::Find(std::string_view key) {
  Entry* entry = entries_.Find(key);
  return entry != nullptr && !IsDue(*entry) ? entry : nullptr;
}

const Entry* Keyspace::Find(std::string_view key) const {
  const Entry* entry = entries_.Find(key);
  return entry != nullptr && !IsDue(*entry) ? entry : nullptr;
}

Entry* Keyspace::FindDue(std::string_view key) {
  Entry* entry = entries_.Find(key);
  return entry != nullptr && IsDue(*entry) ? entry : nullptr;
}

Entry* Keyspace::FirstDue() {
  Entry* earliest = deadlines_.Earliest();
  return earliest != nullptr && IsDue(*earliest) ? earliest : nullptr;
}

std::optional<Millis> Keyspace::NextDeadline() const {
  const Entry* earliest = deadlines_.Earliest();
  return earliest == nullptr ? std::nullopt : earliest->deadline();
}

Entry& Keyspace::Put(std::string_view key, Value value, std::unique_ptr<Entry>& displaced) {
  Entry* entry = entries_.Find(key);
  if (entry == nullptr) return entries_.Insert(MakeEntry(key, std::move(value)));
  SetDeadline(*entry, std::nullopt);
  return Assign(*entry, std::move(value), displaced);
}

Entry& Keyspace::Put(std::string_view key, Value value) {
  std::unique_ptr<Entry> displaced;
  return Put(key, std::move(value), displaced);
}

Entry& Keyspace::Assign(Entry& entry, Value value, std::unique_ptr<Entry>& displaced) {
  if (!IsHeavy(entry.value)) {
    entry.value = std::move(value);
    return entry;
  }
  const std::optional<Millis> deadline = entry.deadline();
  SetDeadline(entry, std::nullopt);
  auto fresh = MakeEntry(entry.key(), std::move(value));
  Entry& placed = *fresh;
  displaced = entries_.Replace(entry, std::move(fresh));
  SetDeadline(placed, deadline);
  return placed;
}

std::unique_ptr<Entry> Keyspace::Extract(Entry& entry) {
  SetDeadline(entry, std::nullopt);
  return entries_.Extract(entry);
}

std::unique_ptr<Entry> Keyspace::MakeEntry(std::string_view key, Value value) {
  return std::unique_ptr<Entry>(new Entry(key, std::move(value)));
}

void Keyspace::SetDeadline(Entry& entry, std::optional<Millis> deadline) {
  if (deadline == entry.deadline_) return;
  if (entry.deadline_) deadlines_.Remove(*entry.deadline_, entry);
  if (deadline) deadlines_.Add(*deadline, entry);
  entry.deadline_ = deadline;
}

const Entry* Keyspace::Random(Rng& rng) const {
  constexpr int kDraws = 100;
  if (AllDue()) return nullptr;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Entry* entry = entries_.Random(rng);
    if (!IsDue(*entry)) return entry;
  }
  return FirstOfScan();  // hardly any is left among many that are due
}

bool Keyspace::AllDue() const {
  if (deadlines_.size() < entries_.size()) return false;
  const Entry* latest = deadlines_.Latest();
  return latest == nullptr || IsDue(*latest);
}

const Entry* Keyspace::FirstOfScan() const {
  const Entry* found = nullptr;
  uint64_t cursor = 0;
  do {
    cursor = Scan(cursor, [&](const Entry& entry) { found = &entry; });
  } while (found == nullptr && cursor != 0);
  return found;
}

size_t Keyspace::BytesUsedBy(const Entry& entry) const {
  const size_t deadline_bytes = entry.deadline() ? Deadlines::kBytesPerEntry : 0;
  return entry.BytesUsed() + Dictionary<Entry>::kBytesPerNode + deadline_bytes;
}

Millis Keyspace::AverageTimeToLive() const {
  return deadlines_.size() == 0 ? Millis(0) : std::max(deadlines_.Mean() - now_, Millis(0));
}

size_t Keyspace::OverheadBytes() const { return entries_.BytesUsed() + deadlines_.BytesUsed(); }

}  // namespace zsetd
