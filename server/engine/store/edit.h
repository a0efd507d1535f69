#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/stream/stream_id.h"
#include "server/engine/store/database.h"

namespace zsetd {

struct AddRule;

// A value while a command changes it in place, or nothing where there is no such key. When the edit
// leaves scope, its encoding is settled by the database's limits, and the database settles its
// books; see Database::Settle. A key has one edit at a time, or the index of elements' deadlines
// would have it twice.
//
//   Edit<SortedSet> set = call.Open<SortedSet>(key, KeyEvent::kZRem);
//   if (set) removed += set.Remove(member);
//
// Add(), Set() and Remove() record the changed member or field if a client subscribes to subkey
// notifications of the edit's event; otherwise this costs a test. Other changes of elements are
// recorded by RecordSubkey().
template <class T>
class Edit {
 public:
  Edit() = default;
  Edit(Database& database, Entry& entry, KeyEvent event, bool is_new = false)
      : database_(&database),
        entry_(&entry),
        event_(event),
        is_new_(is_new),
        revision_((**this).revision()) {
    database.BeforeChange(entry);
    if constexpr (kHasDeadlines) element_deadline_ = database.EarliestElementDeadline(entry);
    if (database.TakesSubkeys(event)) [[unlikely]]
      subkeys_ = std::make_unique<std::vector<std::string>>();
  }
  Edit(Edit&& other) noexcept { *this = std::move(other); }
  Edit& operator=(Edit&& other) noexcept {
    std::swap(database_, other.database_);
    std::swap(entry_, other.entry_);
    std::swap(event_, other.event_);
    std::swap(is_new_, other.is_new_);
    std::swap(revision_, other.revision_);
    std::swap(deadline_, other.deadline_);
    std::swap(element_deadline_, other.element_deadline_);
    std::swap(counts_, other.counts_);
    std::swap(always_reports_, other.always_reports_);
    std::swap(added_bytes_, other.added_bytes_);
    std::swap(subkeys_, other.subkeys_);
    return *this;
  }
  ~Edit() {
    if (entry_ == nullptr) return;
    const uint32_t changes = (**this).revision() - revision_;  // the revision may wrap
    if constexpr (kHasDeadlines) {
      if ((**this).EarliestDeadline() != element_deadline_) [[unlikely]]
        database_->ElementDeadlineChanged(*entry_, element_deadline_);
    }
    if constexpr (kIsSortedSet) {
      if (added_bytes_ > 0) {
        (**this).Expect((**this).size(), added_bytes_ - 1, database_->sorted_set_limits());
      }
    }
    database_->Settle(*entry_, event_,
                      {.changed = changes != 0 || always_reports_,
                       .count = counts_ ? changes : 0,
                       .is_new = is_new_,
                       .deadline = deadline_,
                       .subkeys = subkeys(),
                       .is_content = IsContent()});
  }

  explicit operator bool() const { return entry_ != nullptr; }
  T& operator*() const { return *entry_->GetIf<T>(); }
  T* operator->() const { return &**this; }

  // Frees a part of the value that is slow to free.
  void FreeLater(std::shared_ptr<void> garbage) { database_->FreeLater(std::move(garbage)); }

  // Sets the key's deadline when the edit is settled, if the key still exists then.
  void ExpireAt(Millis deadline) { deadline_ = deadline; }

  // --- Changes of elements, like T's functions of these names. ---

  // Announces that this number of members is about to be added, `first` before the others. Like
  // Redis, chooses the encoding for all of them in advance: of sets, and of an empty sorted set.
  void Announce(size_t members, std::string_view first) const {
    if constexpr (kIsSortedSet) {
      if ((**this).empty()) {
        (**this).Expect(members, first.size(), database_->sorted_set_limits());
      }
    } else {
      (**this).Expect(first, members, database_->set_limits());
    }
  }

  // Announces that this number of fields is about to be set, which may all be new.
  void Announce(size_t fields) const { (**this).Expect(fields, database_->hash_limits()); }

  // Announces that elements of this number and total size are about to be added to a list.
  void Announce(size_t elements, size_t bytes) const {
    (**this).Expect(elements, bytes, database_->list_limits());
  }

  // Must be called after elements of a list were removed or replaced. Like Redis, chooses the
  // encoding again even if there was nothing to remove.
  void ReconsiderEncoding() const { (**this).Reconsider(database_->list_limits()); }

  // Adds an entry to a stream.
  void Append(StreamId id, std::span<const std::string_view> fields) const {
    (**this).Append(id, fields, database_->stream_limits());
  }

  // The IDs of producers of a stream.
  auto& ChangeProducers() const { return (**this).ChangeProducers(database_->stream_limits()); }

  // Adds a member to a set.
  bool Add(std::string_view member) const {
    const bool is_new = (**this).Add(member, database_->set_limits());
    if (is_new) RecordSubkey(member);
    return is_new;
  }

  // Adds a member to a sorted set, or moves it.
  auto Add(std::string_view member, double score, const AddRule& rule) {
    const auto result = (**this).Add(member, score, rule);
    if (result.Changed()) RecordSubkey(member);
    if (result.kind == decltype(result)::Kind::kAdded) {
      added_bytes_ = std::max(added_bytes_, member.size() + 1);
    }
    return result;
  }

  // Adds a member to a sorted set with a form, or moves it.
  auto Place(std::string_view member, uint64_t code, bool keeps_deadline) {
    const auto result = (**this).Place(member, code, keeps_deadline);
    if (result.Changed()) RecordSubkey(member);
    if (result.kind == decltype(result)::Kind::kAdded) {
      added_bytes_ = std::max(added_bytes_, member.size() + 1);
    }
    return result;
  }

  // Sets a field of a hash, with Hash::OldDeadline.
  template <class... OldDeadline>
  bool Set(std::string_view name, std::string_view value, OldDeadline... old_deadline) const {
    RecordSubkey(name);
    return (**this).Set({name, value}, database_->hash_limits(), old_deadline...);
  }

  // `subkey` may view the value.
  bool Remove(std::string_view subkey) const {
    if (subkeys_ == nullptr) [[likely]]
      return (**this).Remove(subkey);
    subkeys_->emplace_back(subkey);
    const bool is_removed = (**this).Remove(subkey);
    if (!is_removed) subkeys_->pop_back();
    return is_removed;
  }

  // Whether subkeys are recorded; if not, the caller need not compute them.
  bool RecordsSubkeys() const { return subkeys_ != nullptr; }

  // Records that this member or field was added, changed or removed.
  void RecordSubkey(std::string_view subkey) const {
    if (subkeys_ != nullptr) [[unlikely]]
      subkeys_->emplace_back(subkey);
  }

  // Reports the changes as another event.
  void ReportAs(KeyEvent event) { event_ = event; }

  // Another edit counts the changes of this one (Change::count).
  void CountElsewhere() { counts_ = false; }

  // Reports the event even if nothing changes. It then counts as no change (Change::count).
  void ReportAlways() { always_reports_ = true; }

 private:
  // Whether elements of such a value may have deadlines.
  static constexpr bool kIsSortedSet = std::is_same_v<T, SortedSet>;
  static constexpr bool kHasDeadlines = kIsSortedSet || std::is_same_v<T, Hash>;

  // Change::is_content.
  bool IsContent() const {
    if constexpr (!std::is_same_v<T, Stream>) return true;
    return is_new_ || event_ == KeyEvent::kXAdd || event_ == KeyEvent::kXDel ||
           event_ == KeyEvent::kXTrim;
  }

  std::span<const std::string> subkeys() const {
    if (subkeys_ == nullptr) return {};
    return *subkeys_;
  }

  Database* database_ = nullptr;
  Entry* entry_ = nullptr;
  KeyEvent event_;
  bool is_new_ = false;
  uint32_t revision_ = 0;
  std::optional<Millis> deadline_;
  std::optional<Millis> element_deadline_;  // the earliest before the edit
  bool counts_ = true;
  bool always_reports_ = false;
  size_t added_bytes_ = 0;  // of the longest member added to a sorted set, and 1; 0: none
  std::unique_ptr<std::vector<std::string>> subkeys_;  // null: no listener
};

// A string while a command changes it, or nothing. Each change is reported when it is made. A view
// is valid until the next change.
template <>
class Edit<ByteString> {
 public:
  Edit() = default;
  Edit(Database& database, Entry& entry, KeyEvent event)
      : database_(&database), entry_(&entry), event_(event) {}

  // Creates an empty string, which the caller must lengthen immediately.
  static Edit Make(Database& database, std::string_view key, KeyEvent event);

  explicit operator bool() const { return entry_ != nullptr; }
  std::string_view view() const { return entry_->GetIf<ByteString>()->view(); }

  void Assign(std::string_view bytes);
  void Append(std::string_view bytes) { entry_ = &database_->Append(*entry_, bytes, event_); }
  void Overwrite(size_t offset, std::string_view bytes) {
    entry_ = &database_->Overwrite(*entry_, offset, bytes, event_);
  }
  void Rewrite(std::span<const ByteRange> ranges, const Database::WriteBytes& write) {
    entry_ = &database_->Rewrite(*entry_, ranges, write, event_, is_new_);
    is_new_ = false;
  }
  void ChangeText(const Database::ChangeBytes& change) {
    entry_ = &database_->ChangeText(*entry_, change, event_, is_new_);
    is_new_ = false;
  }

 private:
  Database* database_ = nullptr;
  Entry* entry_ = nullptr;
  KeyEvent event_;
  bool is_new_ = false;
};

}  // namespace zsetd
