#include "core/hash/table_snapshot.h"

#include <cassert>

#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set.h"

namespace zsetd {

TableSnapshot::TableSnapshot(const Dictionary<FieldNode>& fields,
                             const std::unique_ptr<SortedSet>& deadlines, TableSnapshot*& attached)
    : fields_(&fields),
      deadlines_(deadlines == nullptr ? nullptr : &deadlines),
      size_(fields.size()),
      passed_all_(fields.size() == 0),
      captured_(KeyedHash("the seed of captured names")),
      link_(attached, *this) {
  if (deadlines != nullptr) {
    earliest_deadline_ = Millis(static_cast<int64_t>(deadlines->At(0).score()));
  }
}

std::optional<Millis> TableSnapshot::Deadline(std::string_view name) const {
  if (deadlines_ == nullptr || *deadlines_ == nullptr) return std::nullopt;
  const std::optional<double> deadline = (*deadlines_)->Score(name);
  return deadline ? std::optional(Millis(static_cast<int64_t>(*deadline))) : std::nullopt;
}

// Ends the snapshot's use of the table: all fields are handed out or copied.
void TableSnapshot::Leave() {
  passed_all_ = true;
  link_.Cut();
}

bool TableSnapshot::Capture(std::string_view name) {
  if (captured_.Find(name) != nullptr) return false;
  captured_.Insert(FieldNode::Make({.name = name, .value = {}}));
  return true;
}

void TableSnapshot::Copy(const Field& field) {
  copies_.push_back({.node = FieldNode::Make(field), .deadline = Deadline(field.name)});
}

void TableSnapshot::BeforeChange(const Field& field) {
  if (!HasPassed(field.name) && Capture(field.name)) Copy(field);
}

void TableSnapshot::BeforeInsert(std::string_view name) {
  if (!HasPassed(name)) Capture(name);
}

void TableSnapshot::Detach() {
  fields_->ForEach([&](const FieldNode& node) {
    if (HasPassed(node.key()) || captured_.Find(node.key()) != nullptr) return;
    Copy(node.field());
  });
  Leave();
}

}  // namespace zsetd
