#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "server/engine/store/database.h"

namespace zsetd {

// A value while a command changes it in place, or nothing where there is no such key. When the edit
// leaves scope the database settles its books; see Database::Settle. A key has one edit at a time,
// or the index of elements' deadlines would have it twice.
//
//   Edit<SortedSet> set = call.Open<SortedSet>(key, KeyEvent::kZRem);
//   if (set && set->Remove(member)) set.Note(member);
//
// Changed members or fields are recorded (Note) if a client subscribes to subkey notifications of
// the edit's event; otherwise this costs a test.
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
    database_->Settle(*entry_, event_,
                      {.changed = changes != 0,
                       .count = counts_ ? changes : 0,
                       .is_new = is_new_,
                       .deadline = deadline_,
                       .subkeys = notes()});
  }

  explicit operator bool() const { return entry_ != nullptr; }
  T& operator*() const { return *entry_->GetIf<T>(); }
  T* operator->() const { return &**this; }

  // Frees a part of the value that is slow to free.
  void FreeLater(std::shared_ptr<void> garbage) { database_->FreeLater(std::move(garbage)); }

  // Sets the key's deadline when the edit is settled, if the key still exists then.
  void ExpireAt(Millis deadline) { deadline_ = deadline; }

  // Whether Note() has an effect; without it, the caller need not compute the subkeys.
  bool TakesNotes() const { return subkeys_ != nullptr; }

  // This member or field was added, changed or removed.
  void Note(std::string_view subkey) const {
    if (subkeys_ != nullptr) [[unlikely]]
      subkeys_->emplace_back(subkey);
  }

  // Another edit counts the changes of this one (Change::count).
  void CountElsewhere() { counts_ = false; }

 private:
  // Whether elements of such a value may have deadlines.
  static constexpr bool kHasDeadlines = std::is_same_v<T, SortedSet> || std::is_same_v<T, Hash>;

  std::span<const std::string> notes() const {
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

 private:
  Database* database_ = nullptr;
  Entry* entry_ = nullptr;
  KeyEvent event_;
  bool is_new_ = false;
};

}  // namespace zsetd
