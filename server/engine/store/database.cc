#include "server/engine/store/database.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/keyspace/access_tracker.h"
#include "core/keyspace/value.h"
#include "server/engine/store/dataset_snapshot.h"
#include "server/engine/store/value_limits.h"

namespace zsetd {
namespace {

// From the first keys that a scan finds.
size_t EstimatedBytes(const Keyspace& keys) {
  constexpr size_t kSample = 64;
  size_t seen = 0;
  size_t bytes = 0;
  uint64_t cursor = 0;
  do {
    cursor = keys.ScanEvenDue(cursor, [&](const Entry& entry) {
      ++seen;
      bytes += entry.BytesUsed();
    });
  } while (cursor != 0 && seen < kSample);
  return seen == 0 ? 0 : keys.OverheadBytes() + keys.size() * (bytes / seen);
}

// Makes room for `size` bytes, and an eighth more in a large text. std::string would double it,
// unless it grows to more than twice its size.
void ReserveToGrow(std::string& text, size_t size) {
  constexpr size_t kLarge = 1u << 20;
  if (size <= text.capacity() || size < kLarge || size >= 2 * text.capacity()) return;
  std::string larger;
  larger.reserve(size + size / 8);
  larger.append(text);
  text = std::move(larger);
}

const ValueLimits kDefaultLimits;

}  // namespace

Database::Database(int index, uint64_t hash_seed, Listener listener,
                   FreeInBackground free_in_background, AccessTracker* access_tracker,
                   KeyArrangement arrangement)
    : index_(index),
      hash_seed_(hash_seed),
      arrangement_(arrangement),
      keys_(hash_seed, arrangement),
      listener_(std::move(listener)),
      limits_(&kDefaultLimits),
      free_in_background_(std::move(free_in_background)),
      access_tracker_(access_tracker) {}

const ListLimits& Database::list_limits() const { return limits_->list; }
const HashLimits& Database::hash_limits() const { return limits_->hash; }
const SetLimits& Database::set_limits() const { return limits_->set; }
const SortedSetLimits& Database::sorted_set_limits() const { return limits_->sorted_set; }
const StreamLimits& Database::stream_limits() const { return limits_->stream; }

void Database::AdvanceTo(Millis now) {
  now_ = now;
  keys_.AdvanceTo(now);
  may_have_due_elements_ = !keeps_due_elements_ && keys_.HasDueElement();
}

void Database::Put(std::string_view key, Value&& value, KeyEvent event,
                   std::optional<Millis> deadline, uint64_t count, Touch touch, KnownSlot slot) {
  SettleEncoding(value);
  Entry* old = Open(key, touch, slot);
  Entry& entry = old == nullptr ? Insert(New(key, std::move(value), deadline))
                                : Replace(*old, std::move(value), deadline);
  Report(entry.key(), event, old == nullptr, count);
  if (deadline) ExpireAt(entry, *deadline, 0);
}

void Database::SettleEncoding(Value& value) const {
  if (std::holds_alternative<ByteString>(value)) [[likely]]
    return;
  if (SortedSet* const set = std::get_if<SortedSet>(&value)) {
    set->Expect(set->size(), set->longest_member(), sorted_set_limits());
  } else if (List* const list = std::get_if<List>(&value)) {
    list->Expect(0, 0, list_limits());
  }
}

void Database::PutKeepingDeadline(std::string_view key, Value&& value, KeyEvent event, Touch touch,
                                  KnownSlot slot) {
  Entry* entry = Open(key, touch, slot);
  if (entry == nullptr) {
    Make(key, std::move(value));
    Report(key, event, /*is_new=*/true);
  } else {
    Assign(*entry, std::move(value), event);
  }
}

bool Database::Erase(std::string_view key, KeyEvent event, KnownSlot slot) {
  Entry* entry = Open(key, Touch::kYes, slot);
  if (entry == nullptr) return false;
  EraseEntry(*entry, event, 1);
  return true;
}

void Database::ExpireAt(Entry& entry, Millis deadline, uint64_t count) {
  if (deadline <= now_) return EraseEntry(entry, KeyEvent::kDel, count);
  BeforeChange(entry);
  Report(keys_.SetDeadline(entry, deadline).key(), KeyEvent::kExpire, /*is_new=*/false, count);
}

bool Database::Persist(Entry& entry) {
  if (!entry.deadline()) return false;
  BeforeChange(entry);
  keys_.SetDeadline(entry, std::nullopt);
  Report(entry.key(), KeyEvent::kPersist);
  return true;
}

void Database::Move(Entry& entry, Database& destination, std::string_view target,
                    KeyEvent event_from, KeyEvent event_to) {
  const std::optional<Millis> deadline = entry.deadline();
  BeforeChange(entry);
  std::unique_ptr<Entry> moved = keys_.Extract(entry);
  const std::string source(moved->key());
  const Entry& received = destination.Place(Entry::Remade(std::move(moved), target, deadline));
  destination.ReportUncounted(received.key(), KeyEvent::kNew);
  Report(source, event_from, /*is_new=*/false, /*count=*/0);
  destination.Report(received.key(), event_to);
}

void Database::Copy(const Entry& entry, Database& destination, std::string_view target,
                    KeyEvent event) {
  std::unique_ptr<Entry> copy = entry.Copy(target);
  MarkNew(*copy);
  destination.Put(std::move(copy), event);
}

void Database::Put(std::unique_ptr<Entry> entry, KeyEvent event) {
  Report(Place(std::move(entry)).key(), event, /*is_new=*/true);
}

// Stores the entry, replacing any value at its key, without a report.
Entry& Database::Place(std::unique_ptr<Entry> entry) {
  Entry& received = *entry;
  Entry* old = Open(received.key());
  if (old == nullptr) {
    Insert(std::move(entry));
  } else {
    BeforeChange(*old);
    Free(keys_.Replace(*old, std::move(entry)));
  }
  return received;
}

size_t Database::ReclaimDue(size_t most) {
  size_t reclaimed = 0;
  for (; reclaimed < most; ++reclaimed) {
    Entry* entry = keys_.FirstDue();
    if (entry == nullptr) break;
    if (keys_.IsHidden(*entry)) {
      keys_.SetAsideDue(*entry);
    } else {
      EraseEntry(*entry, KeyEvent::kExpired, 0);
    }
  }
  return reclaimed;
}

size_t Database::ReclaimDueElements(size_t most) {
  size_t reclaimed = 0;
  while (reclaimed < most) {
    Entry* entry = keys_.FirstWithDueElement();
    if (entry == nullptr) break;
    if (keys_.IsHidden(*entry)) {
      keys_.SetAsideDueElement(*entry);
      ++reclaimed;
    } else {
      reclaimed += ReclaimElements(*entry, most - reclaimed);
    }
  }
  return reclaimed;
}

bool Database::HasDueElement(std::string_view key) const {
  if (keeps_due_elements_) return false;
  const Entry* entry = keys_.Find(key);
  return entry != nullptr && keys_.HasDueElement(*entry);
}

size_t Database::ReclaimDueElementsOf(std::string_view key, size_t most) {
  return keeps_due_elements_ ? 0 : ReclaimKeptElementsOf(key, most);
}

size_t Database::ReclaimKeptElementsOf(std::string_view key, size_t most) {
  assert(most > 0);
  const Entry* const entry = keys_.Find(key);
  if (entry == nullptr || !keys_.HasDueElement(*entry)) return 0;
  return ReclaimElements(*keys_.FindEvenDue(key), most);
}

// Precondition: some elements are due. Deletes the entry if no element is left.
size_t Database::ReclaimElements(Entry& entry, size_t most) {
  BeforeChange(entry);
  const std::optional<Millis> before = entry.EarliestElementDeadline();
  std::vector<std::string> removed;
  SortedSet* const set = entry.GetIf<SortedSet>();
  if (set != nullptr) {
    set->RemoveDue(now_, most, removed);
  } else {
    entry.GetIf<Hash>()->RemoveDue(now_, most, removed);
  }
  assert(!removed.empty());
  keys_.ElementDeadlineChanged(entry, before);
  listener_(Change{.database = index_,
                   .key = entry.key(),
                   .event = set != nullptr ? KeyEvent::kZExpired : KeyEvent::kHExpired,
                   .count = 0,
                   .expired_elements = removed});
  if (entry.IsEmptyAggregate()) EraseEntry(entry, KeyEvent::kDel, 0);
  return removed.size();
}

void Database::Clear() {
  const size_t bytes = EstimatedBytes(keys_);
  auto gone = std::make_shared<Keyspace>(std::move(keys_));
  const size_t objects = gone->size();
  if (keyspace_snapshot_ != nullptr) {
    keyspace_snapshot_->Keep(std::move(gone));
  } else if (objects > 0) {
    FreeLater(std::move(gone), bytes, objects);
  }
}

void Database::Adopt(Keyspace keys) {
  Clear();
  keys_ = std::move(keys);
  keys_.AdvanceTo(now_);
}

void Database::FreeLater(std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
  if (garbage == nullptr) return;
  if (snapshot_ != nullptr && snapshot_->Keep(garbage, bytes, objects)) return;
  FreeNow(std::move(garbage), bytes, objects);
}

void Database::FreeNow(std::shared_ptr<void> garbage, size_t bytes, size_t objects) {
  if (free_in_background_) free_in_background_(std::move(garbage), bytes, objects);
}

void Database::SwapKeysWith(Database& other) {
  assert(this != &other);
  std::swap(keys_, other.keys_);
  std::swap(keyspace_snapshot_, other.keyspace_snapshot_);
  if (keyspace_snapshot_ != nullptr) keyspace_snapshot_->MoveTo(*this);
  if (other.keyspace_snapshot_ != nullptr) other.keyspace_snapshot_->MoveTo(other);
}

void Database::Capture(const Entry& entry) { keyspace_snapshot_->BeforeChange(entry); }

Entry& Database::Insert(std::unique_ptr<Entry> entry) {
  if (keyspace_snapshot_ != nullptr) [[unlikely]]
    keyspace_snapshot_->BeforeInsert(entry->key());
  return keys_.Insert(std::move(entry));
}

const Entry* Database::Use(std::string_view key, Touch touch, KnownSlot slot) {
  Entry* entry = keys_.FindEvenDue(key, slot);
  if (entry == nullptr || keys_.IsDue(*entry)) return nullptr;
  if (!keeps_due_elements_ && keys_.HasDueElement(*entry)) [[unlikely]]
    return Open(key, touch);
  if (touch == Touch::kYes && access_tracker_ != nullptr) access_tracker_->RecordAccess(*entry);
  return entry;
}

const Entry* Database::UseShared(std::string_view key, Touch touch, KnownSlot slot,
                                 bool& must_change) {
  Entry* entry = keys_.FindEvenDue(key, slot);
  if (entry == nullptr || keys_.IsDue(*entry)) return nullptr;
  if (!keeps_due_elements_ && keys_.HasDueElement(*entry)) [[unlikely]] {
    must_change = true;
    return nullptr;
  }
  if (touch == Touch::kYes && access_tracker_ != nullptr) {
    access_tracker_->RecordAccessShared(*entry);
  }
  return entry;
}

Entry* Database::Open(std::string_view key, Touch touch, KnownSlot slot) {
  Entry* entry = keys_.FindEvenDue(key, slot);
  if (entry == nullptr) return nullptr;
  if (keys_.IsDue(*entry)) {
    EraseEntry(*entry, KeyEvent::kExpired, 0);
    return nullptr;
  }
  if (!keeps_due_elements_ && keys_.HasDueElement(*entry)) [[unlikely]] {
    ReclaimElements(*entry, std::numeric_limits<int32_t>::max());
    return Open(key, touch);
  }
  if (touch == Touch::kYes && access_tracker_ != nullptr) access_tracker_->RecordAccess(*entry);
  return entry;
}

Entry& Database::Make(std::string_view key, Value&& value) {
  assert(keys_.FindEvenDue(key) == nullptr);
  return Insert(New(key, std::move(value), std::nullopt));
}

std::unique_ptr<Entry> Database::New(std::string_view key, Value&& value,
                                     std::optional<Millis> deadline) {
  std::unique_ptr<Entry> entry = Entry::Make(key, std::move(value), deadline);
  MarkNew(*entry);
  return entry;
}

void Database::MarkNew(Entry& entry) const {
  if (access_tracker_ != nullptr) entry.set_access_stamp(access_tracker_->OfNewKey());
}

void Database::Settle(Entry& entry, KeyEvent event, const EditResult& outcome) {
  assert(outcome.changed || outcome.count == 0);
  if (outcome.changed) {
    listener_(Change{.database = index_,
                     .key = entry.key(),
                     .event = event,
                     .is_new = outcome.is_new,
                     .is_content = outcome.is_content,
                     .count = outcome.count,
                     .subkeys = outcome.subkeys});
  }
  if (outcome.is_new && !outcome.changed) {  // made for this edit, and nothing was added
    keys_.Extract(entry);
    return;
  }
  if (entry.IsEmptyAggregate()) {
    if (outcome.changed) EraseEntry(entry, KeyEvent::kDel, 0);
    return;
  }
  if (outcome.deadline) ExpireAt(entry, *outcome.deadline, outcome.changed ? 0 : 1);
}

Entry& Database::Assign(Entry& entry, Value&& value, KeyEvent event) {
  Entry& assigned = Replace(entry, std::move(value), entry.deadline());
  Report(assigned.key(), event);
  return assigned;
}

Entry& Database::Append(Entry& entry, std::string_view bytes, KeyEvent event) {
  Entry& edited = EditText(entry, {}, [&](std::string& text) {
    ReserveToGrow(text, text.size() + bytes.size());
    text.append(bytes);
  });
  Report(edited.key(), event);
  return edited;
}

Entry& Database::Overwrite(Entry& entry, size_t offset, std::string_view bytes, KeyEvent event) {
  const ByteRange range = {.begin = offset, .end = offset + bytes.size()};
  Entry& edited = EditText(entry, {&range, 1}, [&](std::string& text) {
    ReserveToGrow(text, range.end);
    text.resize(std::max(text.size(), range.end));
    text.replace(offset, bytes.size(), bytes);
  });
  Report(edited.key(), event);
  return edited;
}

Entry& Database::Rewrite(Entry& entry, std::span<const ByteRange> ranges, const WriteBytes& write,
                         KeyEvent event, bool is_new) {
  size_t least_size = 0;
  for (const ByteRange& range : ranges) least_size = std::max(least_size, range.end);
  bool grows = false;
  uint64_t changes = 0;
  Entry& edited = EditText(entry, ranges, [&](std::string& text) {
    grows = text.size() < least_size;
    ReserveToGrow(text, least_size);
    if (grows) text.resize(least_size);
    changes = write(text);
  });
  if (changes > 0) {
    Report(edited.key(), event, is_new, changes);
  } else if (grows) {
    ReportUncounted(edited.key(), is_new ? KeyEvent::kNew : KeyEvent::kNone);
  }
  return edited;
}

Entry& Database::ChangeText(Entry& entry, const ChangeBytes& change, KeyEvent event, bool is_new) {
  const ByteRange whole = {.begin = 0, .end = entry.GetIf<ByteString>()->view().size()};
  uint64_t changes = 0;
  Entry& edited = EditText(entry, {&whole, 1}, [&](std::string& text) { changes = change(text); });
  if (changes > 0) Report(edited.key(), event, is_new, changes);
  return edited;
}

// Lets `change` change the text: the bytes in these ranges, and bytes after the present end. A
// short string is converted to one that can grow.
template <class Change>
Entry& Database::EditText(Entry& entry, std::span<const ByteRange> ranges, Change change) {
  assert(entry.Holds<ByteString>());
  BeforeChange(entry);
  if (entry.StartEditing() == nullptr) {
    const ByteString edited(entry.GetIf<ByteString>()->view(), true);
    Entry& placed = Replace(entry, edited, entry.deadline());
    change(*placed.StartEditing());
    return placed;
  }
  std::string& text = *entry.StartEditing();
  const char* const before = text.data();
  if (snapshot_ != nullptr) [[unlikely]]
    snapshot_->BeforeEdit(entry, ranges);
  change(text);
  if (snapshot_ != nullptr) [[unlikely]]
    snapshot_->AfterEdit(before, entry);
  return entry;
}

Entry& Database::Replace(Entry& entry, Value&& value, std::optional<Millis> deadline) {
  BeforeChange(entry);
  const auto* string = std::get_if<ByteString>(&value);
  if (string != nullptr && entry.AssignInPlace(*string)) return keys_.SetDeadline(entry, deadline);
  auto fresh = Entry::Make(entry.key(), std::move(value), deadline);
  fresh->set_access_stamp(entry.access_stamp());
  Entry& placed = *fresh;
  Free(keys_.Replace(entry, std::move(fresh)));
  return placed;
}

void Database::Report(std::string_view key, KeyEvent event, bool is_new, uint64_t count) {
  listener_(
      Change{.database = index_, .key = key, .event = event, .is_new = is_new, .count = count});
}

// Reports an event that watches and client tracking ignore, and that counts as no change.
void Database::ReportUncounted(std::string_view key, KeyEvent event) {
  listener_(
      Change{.database = index_, .key = key, .event = event, .is_content = false, .count = 0});
}

void Database::EraseEntry(Entry& entry, KeyEvent event, uint64_t count) {
  assert(keys_.FindEvenDue(entry.key()) == &entry);
  BeforeChange(entry);
  std::unique_ptr<Entry> gone = keys_.Extract(entry);
  Report(gone->key(), event, /*is_new=*/false, count);
  Free(std::move(gone));
}

// Light entries are freed here: handing them over would take longer.
void Database::Free(std::unique_ptr<Entry> entry) {
  if (entry == nullptr) return;
  if (snapshot_ != nullptr && snapshot_->Keep(entry)) return;
  if (!entry->IsHeavy()) return;
  const size_t bytes = entry->BytesUsed();
  FreeNow(std::move(entry), bytes, 1);
}

}  // namespace zsetd
