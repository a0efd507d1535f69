#include "core/hash/table_snapshot.h"

#include <cassert>

#include "core/hashing/keyed_hash.h"

namespace zsetd {

TableSnapshot::TableSnapshot(const Dictionary<FieldNode>& fields, TableSnapshot*& attached)
    : fields_(&fields),
      attached_(&attached),
      size_(fields.size()),
      passed_all_(fields.size() == 0),
      captured_(KeyedHash("the seed of captured names")) {
  assert(attached == nullptr);
  attached = this;
}

// All are handed out or copied: the table may change as it likes.
void TableSnapshot::Leave() {
  passed_all_ = true;
  if (attached_ != nullptr) *attached_ = nullptr;
  attached_ = nullptr;
}

bool TableSnapshot::Capture(std::string_view name) {
  if (captured_.Find(name) != nullptr) return false;
  captured_.Insert(FieldNode::Make({.name = name, .value = {}}));
  return true;
}

void TableSnapshot::BeforeChange(const Field& field) {
  if (!HasPassed(field.name) && Capture(field.name)) copies_.push_back(FieldNode::Make(field));
}

void TableSnapshot::BeforeInsert(std::string_view name) {
  if (!HasPassed(name)) Capture(name);
}

void TableSnapshot::Detach() {
  fields_->ForEach([&](const FieldNode& node) {
    if (HasPassed(node.key()) || captured_.Find(node.key()) != nullptr) return;
    copies_.push_back(FieldNode::Make(node.field()));
  });
  Leave();
}

}  // namespace zsetd
