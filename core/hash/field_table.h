#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/hash/field_block.h"
#include "core/hash/field_node.h"
#include "core/hash/table_snapshot.h"
#include "core/hashing/dictionary.h"
#include "core/util/rng.h"
#include "core/util/time.h"

namespace zsetd {

class SortedSet;

// A table of fields with unique names, used by hashes and sets.
//
//   small    one packed block, in the order of arrival           core/hash/field_block.h
//   large    a dictionary, one allocation a field                core/hashing/dictionary.h
//
// A table is small until the block overflows or a field gets a deadline, and large from then on. A
// small table visits its fields in insertion order, a large table in any order. Movable, not
// copyable; a moved-from table is empty. Costs are for n fields; searching a small table reads all
// of its bounded block. Views are valid until the next change. A field argument must not view the
// same table.
class FieldTable {
 public:
  // The limits of a block; a search reads all of it. If insertion order must be kept, a block takes
  // as many fields as the caller allows, up to kMostOrderedBytes.
  static constexpr size_t kMostPacked = 128;
  static constexpr size_t kMostPackedBytes = 8192;
  static constexpr size_t kMostOrderedBytes = 1 << 20;

  FieldTable Clone() const;  // O(n)

  size_t size() const { return large_ ? large_->fields.size() : block_.count(); }  // O(1)

  // The heap bytes, allocator rounding included. O(1).
  size_t BytesUsed() const;

  // The field of that name. O(1) expected.
  std::optional<Field> Find(std::string_view name) const;

  // Whether the fields are visited in insertion order.
  bool keeps_order() const { return large_ == nullptr; }

  // Adds a field whose name does not exist; with `keep_order` also beyond what a block takes
  // otherwise. O(1) expected; O(n) while a long block is kept.
  void Insert(const Field& field, bool keep_order = false);

  // Adds the field, or sets its value if it exists; true if it is new. The same costs.
  bool Set(const Field& field, bool keep_order = false);

  // Removes the field. Returns false if it does not exist. O(1) expected.
  bool Erase(std::string_view name);

  // The names of the fields that have a deadline, scored by it; null if none has one. O(1).
  const SortedSet* deadlines() const { return large_ ? large_->deadlines.get() : nullptr; }

  // Sets or removes the deadline of an existing field. An overwritten field keeps its deadline; an
  // erased field loses it. O(log n); O(n) for the first deadline of a small table.
  void SetDeadline(std::string_view name, std::optional<Millis> deadline);

  // Calls visit(const Field&) for each field. The table must not change during the call. O(n).
  template <class Visit>
  void ForEach(Visit visit) const;

  // Calls visit(length) for each chain of the hash table of a large table. O(n).
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    if (large_) large_->fields.ForEachChain(visit);
  }

  // Calls visit(const Field&) for some fields, all that a small table has, and returns the cursor
  // for the next call, 0 at the end. A scan from 0 to 0 visits every field that exists
  // throughout, whatever changes between the calls; some may be visited twice. O(1) expected if
  // large.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const;

  // Starts a snapshot of the fields and deadlines at this instant, which hands them out in steps
  // while the table changes. Returns null for a small table. A table has one snapshot at a time. If
  // the table is destroyed first, its destructor copies the remaining fields, which is slow. O(1).
  std::unique_ptr<TableSnapshot> StartSnapshot() const;

  // Identifies the fields, independently of the object that holds them; null for a small table.
  const void* identity() const { return large_.get(); }

  // A random field. Precondition: the table is not empty. O(1) expected.
  Field Random(Rng& rng) const;

  // `count` different random fields, or all if there are fewer, in no order. O(count) expected, or
  // O(n) if `count` is a large part of n.
  std::vector<Field> Sample(size_t count, Rng& rng) const;

 private:
  struct Large {
    Large();
    ~Large();

    void Insert(const Field& field);
    bool Replace(const Field& field);
    bool Erase(std::string_view name);
    void RemoveDeadline(std::string_view name);

    Dictionary<FieldNode> fields;
    size_t node_bytes = 0;
    TableSnapshot* snapshot = nullptr;     // null: no snapshot
    std::unique_ptr<SortedSet> deadlines;  // null: no field has a deadline
  };

  std::vector<Field> DrawFew(size_t count, Rng& rng) const;
  std::vector<Field> DrawMany(size_t count, Rng& rng) const;
  bool Fits(const Field& field, bool keep_order) const;
  void MakeRoomFor(const Field& field, bool keep_order);
  bool Replace(const Field& field);
  std::unique_ptr<Large> MakeLarge() const;

  FieldBlock block_;  // empty if large
  std::unique_ptr<Large> large_;
};

template <class Visit>
void FieldTable::ForEach(Visit visit) const {
  if (large_) return large_->fields.ForEach([&](const FieldNode& node) { visit(node.field()); });
  for (size_t place = 0; place < block_.bytes(); place = block_.PlaceAfter(place)) {
    visit(block_.At(place));
  }
}

template <class Visit>
uint64_t FieldTable::Scan(uint64_t cursor, Visit visit) const {
  if (large_) {
    return large_->fields.Scan(cursor, [&](const FieldNode& node) { visit(node.field()); });
  }
  ForEach(visit);
  return 0;
}

}  // namespace zsetd
