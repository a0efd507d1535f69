#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash/field_table.h"
#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

// The encoding that Redis would use for a hash, which depends on its history: from listpack to
// hashtable, never back; from listpack to listpackex when a field gets a deadline. A listpack
// visits its fields in insertion order, which clients rely on. Otherwise zsetd uses its own limits
// (FieldTable).
enum class HashEncoding : uint8_t { kListpack, kListpackEx, kHashtable };

// The limits of the listpack encoding: fields, and bytes of a name or value.
struct HashLimits {
  size_t listpack_entries = 512;
  size_t listpack_value = 64;
};

// Fields with unique names, each with a value, and some with a deadline: an instant in
// milliseconds. A field stays after its deadline until the caller calls RemoveDue(). Hashes without
// deadlines need no memory for them.
//
// Invariant: the revision changes with every change. Movable, not copyable; a moved-from hash may
// only be assigned to. Costs are for n fields. Views are valid until the next change. A field
// argument must not view the same hash.
class Hash {
 public:
  Hash Clone() const;  // O(n)

  size_t size() const { return fields_.size(); }  // O(1)
  bool empty() const { return size() == 0; }
  uint32_t revision() const { return revision_; }
  HashEncoding encoding() const { return encoding_; }
  size_t BytesUsed() const { return fields_.BytesUsed(); }  // on the heap; O(1)

  // The value of the field of that name; nullopt if it does not exist. O(1) expected.
  std::optional<std::string_view> Get(std::string_view name) const;

  bool Contains(std::string_view name) const { return Get(name).has_value(); }

  // Adds the field, or sets its value if it exists. An equal value counts as a change, too. Removes
  // the deadline of an existing field, unless `old_deadline` is kKeep. Returns true if the field is
  // new. O(1) expected.
  enum class OldDeadline { kRemove, kKeep };
  bool Set(const Field& field, const HashLimits& limits = HashLimits(),
           OldDeadline old_deadline = OldDeadline::kRemove);

  // Whether any field has a deadline. O(1).
  bool has_deadlines() const { return fields_.deadlines() != nullptr; }

  // The earliest deadline; nullopt if no field has one. O(1).
  std::optional<Millis> EarliestDeadline() const;

  // The deadline of a field; nullopt if it has none or does not exist. O(1) expected.
  std::optional<Millis> Deadline(std::string_view name) const;

  // Sets or removes the deadline of a field. Returns false, and keeps the revision, if the field
  // does not exist or has that deadline. Deadlines outside the years 1970 to 4199 are clamped.
  // O(log n); O(n) for the first deadline of a small hash.
  bool SetDeadline(std::string_view name, std::optional<Millis> deadline);

  // Removes at most `most` fields whose deadline is at or before `now`, the longest overdue first.
  // Appends their names to `removed`. O(log n) each.
  void RemoveDue(Millis now, size_t most, std::vector<std::string>& removed);

  // Removes the field. Returns false if it does not exist. O(1) expected.
  bool Remove(std::string_view name);

  // Must be called before this number of fields is set, which may all be new. Like Redis, chooses
  // an encoding for all of them in advance.
  void Expect(size_t fields, const HashLimits& limits);

  // A random field, all equally likely. Precondition: the hash is not empty. O(1) expected.
  Field Random(Rng& rng) const { return fields_.Random(rng); }

  // Different random fields; see FieldTable::Sample.
  std::vector<Field> Sample(size_t count, Rng& rng) const { return fields_.Sample(count, rng); }

  // Calls visit(const Field&) for each field. The hash must not change during the call. O(n).
  template <class Visit>
  void ForEach(Visit visit) const {
    fields_.ForEach(visit);
  }

  // See FieldTable::ForEachChain.
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    fields_.ForEachChain(visit);
  }

  // Like ForEach(), but visits some fields per call; see FieldTable::Scan.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const {
    return fields_.Scan(cursor, visit);
  }

  // See FieldTable::StartSnapshot and FieldTable::identity.
  std::unique_ptr<TableSnapshot> StartSnapshot() const { return fields_.StartSnapshot(); }
  const void* identity() const { return fields_.identity(); }

 private:
  FieldTable fields_;
  uint32_t revision_ = 0;
  HashEncoding encoding_ = HashEncoding::kListpack;
};

}  // namespace zsetd
