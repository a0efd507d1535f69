#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/hash/field.h"
#include "core/hash/field_node.h"
#include "core/hashing/dictionary.h"

namespace zsetd {

// The fields of a large table as they were at one instant, handed out a bucket at a time while the
// table goes on changing.
//
//     hashes, read backwards   |  passed  |cursor      still to come           |
//                              └ handed out           └ a field is copied before its first change,
//                                                       and its name noted as captured
//
// Dictionary::HasPassed says on which side a name is, so no field keeps a mark. It costs nothing to
// begin. A change waits for the copy of its field.
//
// A table has one snapshot at a time, and the snapshot may outlive it: before the fields are freed
// those that were not handed out are copied, which takes as long as the table is large; whoever
// destroys large tables keeps them until their snapshots have ended.
class TableSnapshot {
 public:
  // `attached` is the table's pointer to it, which is null.
  TableSnapshot(const Dictionary<FieldNode>& fields, TableSnapshot*& attached);
  TableSnapshot(const TableSnapshot&) = delete;
  ~TableSnapshot() { Leave(); }

  size_t size() const { return size_; }  // fields at the instant
  bool done() const { return passed_all_ && copies_.empty(); }

  // Calls visit(const Field&) for some fields, if there are any at the cursor: for a bucket and
  // what was copied. It is not done.
  template <class Visit>
  void Step(Visit visit);

  // --- For the table. ---

  // A field is about to be changed or removed; one of that name, which does not exist, to be
  // created. O(1) expected.
  void BeforeChange(const Field& field);
  void BeforeInsert(std::string_view name);

  // The table is about to be destroyed. O(n).
  void Detach();

 private:
  bool HasPassed(std::string_view name) const {
    return passed_all_ || (cursor_ != 0 && fields_->HasPassed(cursor_, name));
  }
  bool Capture(std::string_view name);  // false if it was
  void Leave();

  const Dictionary<FieldNode>* fields_;
  TableSnapshot** attached_;  // null once the table is gone, or no longer needed
  const size_t size_;
  uint64_t cursor_ = 0;
  bool passed_all_ = false;
  Dictionary<FieldNode> captured_;  // right of the cursor, without values
  std::vector<std::unique_ptr<FieldNode>> copies_;
};

template <class Visit>
void TableSnapshot::Step(Visit visit) {
  for (const auto& copy : copies_) visit(copy->field());
  copies_.clear();
  if (passed_all_) return;
  const uint64_t next = fields_->Scan(cursor_, [&](const FieldNode& node) {
    // A bucket that two have merged into begins left of the cursor.
    if (HasPassed(node.key()) || captured_.Find(node.key()) != nullptr) return;
    visit(node.field());
  });
  cursor_ = next;
  if (next == 0) Leave();
}

}  // namespace zsetd
