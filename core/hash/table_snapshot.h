#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/hash/field.h"
#include "core/hash/field_node.h"
#include "core/hashing/dictionary.h"
#include "core/util/snapshot_link.h"
#include "core/util/time.h"

namespace zsetd {

class SortedSet;

// The fields of a large table, and their deadlines, as they were at one instant, handed out a
// bucket at a time while the table changes.
//
//     hashes, read backwards   |  passed  |cursor      still to come           |
//                              └ handed out           └ a field is copied before its first change,
//                                                       and its name noted as captured
//
// Dictionary::HasPassed returns on which side of the cursor a name is, so fields need no mark.
// Starting a snapshot is O(1). A change waits for the copy of its field.
//
// A table has one snapshot at a time. The snapshot may outlive the table: before the fields are
// freed, those that were not handed out are copied in O(n). Therefore the owner of a large table
// keeps it until its snapshot has ended.
class TableSnapshot {
 public:
  // `deadlines` is the table's set of deadlines, null while no field has one. `attached` is the
  // table's pointer to its snapshot, still null.
  TableSnapshot(const Dictionary<FieldNode>& fields, const std::unique_ptr<SortedSet>& deadlines,
                TableSnapshot*& attached);
  TableSnapshot(const TableSnapshot&) = delete;

  size_t size() const { return size_; }  // fields at the instant
  bool done() const { return passed_all_ && copies_.empty(); }

  // The earliest deadline at the instant; nullopt if no field had one.
  std::optional<Millis> earliest_deadline() const { return earliest_deadline_; }

  // Calls visit(const Field&, std::optional<Millis> deadline) for the fields of the bucket at the
  // cursor and for all copied fields. Precondition: !done().
  template <class Visit>
  void Step(Visit visit);

  // --- For the table. ---

  // Must be called before a field or its deadline is changed or removed, and before a field of a
  // new name is created. O(1) expected.
  void BeforeChange(const Field& field);
  void BeforeInsert(std::string_view name);

  // Must be called before the table is destroyed. O(n).
  void Detach();

 private:
  bool HasPassed(std::string_view name) const {
    return passed_all_ || (cursor_ != 0 && fields_->HasPassed(cursor_, name));
  }
  bool Capture(std::string_view name);  // returns false if it was captured already
  void Copy(const Field& field);
  std::optional<Millis> Deadline(std::string_view name) const;  // the present deadline
  void Leave();

  struct CopiedField {
    std::unique_ptr<FieldNode> node;
    std::optional<Millis> deadline;
  };

  const Dictionary<FieldNode>* fields_;
  const std::unique_ptr<SortedSet>* deadlines_;  // null if no field had one at the instant
  std::optional<Millis> earliest_deadline_;
  const size_t size_;
  uint64_t cursor_ = 0;
  bool passed_all_ = false;
  Dictionary<FieldNode> captured_;  // right of the cursor, without values
  std::vector<CopiedField> copies_;
  SnapshotLink<TableSnapshot> link_;  // cut once the table is destroyed or not needed
};

template <class Visit>
void TableSnapshot::Step(Visit visit) {
  for (const CopiedField& copy : copies_) visit(copy.node->field(), copy.deadline);
  copies_.clear();
  if (passed_all_) return;
  const uint64_t next = fields_->Scan(cursor_, [&](const FieldNode& node) {
    // A bucket that was merged from two may begin left of the cursor.
    if (HasPassed(node.key()) || captured_.Find(node.key()) != nullptr) return;
    visit(node.field(), Deadline(node.key()));
  });
  cursor_ = next;
  if (next == 0) Leave();
}

}  // namespace zsetd
