#include "core/hash/field_table.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "core/hashing/keyed_hash.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/allocation.h"

namespace zsetd {

// The seed is derived from KeyedHash(), so it is equally secret. All tables share it.
FieldTable::Large::Large() : fields(KeyedHash("the seed of tables")) {}

FieldTable::Large::~Large() {
  if (snapshot != nullptr) snapshot->Detach();
}

void FieldTable::Large::Insert(const Field& field) {
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeInsert(field.name);
  const FieldNode& node = fields.Insert(FieldNode::Make(field));
  node_bytes += AllocatedBytes(&node);
}

// False if no field has that name.
bool FieldTable::Large::Replace(const Field& field) {
  FieldNode* old = fields.Find(field.name);
  if (old == nullptr) return false;
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeChange(old->field());
  auto fresh = FieldNode::Make(field);
  node_bytes += AllocatedBytes(fresh.get()) - AllocatedBytes(old);
  fields.Replace(*old, std::move(fresh));
  return true;
}

bool FieldTable::Large::Erase(std::string_view name) {
  FieldNode* node = fields.Find(name);
  if (node == nullptr) return false;
  if (snapshot != nullptr) [[unlikely]]
    snapshot->BeforeChange(node->field());
  node_bytes -= AllocatedBytes(node);
  fields.Extract(*node);
  RemoveDeadline(name);
  return true;
}

void FieldTable::Large::RemoveDeadline(std::string_view name) {
  if (deadlines == nullptr) return;
  deadlines->Remove(name);
  if (deadlines->empty()) deadlines.reset();
}

FieldTable FieldTable::Clone() const {
  FieldTable copy;
  if (large_) {
    copy.large_ = MakeLarge();
    if (deadlines() != nullptr) {
      copy.large_->deadlines = std::make_unique<SortedSet>(deadlines()->Clone());
    }
  } else {
    copy.block_ = block_.Clone();
  }
  return copy;
}

std::unique_ptr<FieldTable::Large> FieldTable::MakeLarge() const {
  auto large = std::make_unique<Large>();
  ForEach([&](const Field& field) { large->Insert(field); });
  return large;
}

std::unique_ptr<TableSnapshot> FieldTable::StartSnapshot() const {
  if (!large_) return nullptr;
  return std::make_unique<TableSnapshot>(large_->fields, large_->deadlines, large_->snapshot);
}

size_t FieldTable::BytesUsed() const {
  if (!large_) return block_.BytesUsed();
  const size_t bytes =
      AllocatedBytes(large_.get()) + large_->fields.BytesUsed() + large_->node_bytes;
  if (deadlines() == nullptr) return bytes;
  return bytes + AllocatedBytes(deadlines()) + deadlines()->BytesUsed();
}

std::optional<Field> FieldTable::Find(std::string_view name) const {
  if (large_) {
    const FieldNode* node = large_->fields.Find(name);
    return node == nullptr ? std::nullopt : std::optional(node->field());
  }
  const size_t place = block_.PlaceOf(name);
  return place == block_.bytes() ? std::nullopt : std::optional(block_.At(place));
}

void FieldTable::Insert(const Field& field, bool keep_order) {
  MakeRoomFor(field, keep_order);
  if (large_) {
    large_->Insert(field);
  } else {
    block_.Append(field);
  }
}

bool FieldTable::Set(const Field& field, bool keep_order) {
  MakeRoomFor(field, keep_order);
  if (Replace(field)) return false;
  Insert(field, keep_order);
  return true;
}

bool FieldTable::Replace(const Field& field) {
  if (large_) return large_->Replace(field);
  const size_t place = block_.PlaceOf(field.name);
  if (place == block_.bytes()) return false;
  block_.Replace(place, field);
  return true;
}

void FieldTable::SetDeadline(std::string_view name, std::optional<Millis> deadline) {
  assert(Find(name));
  if (large_ && large_->snapshot != nullptr) [[unlikely]]
    large_->snapshot->BeforeChange(*Find(name));
  if (!deadline) {
    if (large_) large_->RemoveDeadline(name);
    return;
  }
  if (!large_) {
    large_ = MakeLarge();
    block_ = FieldBlock();
  }
  if (large_->deadlines == nullptr) large_->deadlines = std::make_unique<SortedSet>();
  large_->deadlines->Set(name, static_cast<double>(deadline->count()));
}

void FieldTable::MakeRoomFor(const Field& field, bool keep_order) {
  if (large_ || Fits(field, keep_order)) return;
  large_ = MakeLarge();
  block_ = FieldBlock();
}

// Counts the field as if it were new, which also covers a new value for an existing field.
bool FieldTable::Fits(const Field& field, bool keep_order) const {
  const size_t bytes = block_.bytes() + PackedBytes(field);
  if (keep_order) return bytes <= kMostOrderedBytes;
  return block_.count() < kMostPacked && bytes <= kMostPackedBytes;
}

bool FieldTable::Erase(std::string_view name) {
  if (large_) return large_->Erase(name);
  const size_t place = block_.PlaceOf(name);
  if (place == block_.bytes()) return false;
  block_.Erase(place);
  return true;
}

Field FieldTable::Random(Rng& rng) const {
  assert(size() > 0);
  if (large_) return large_->fields.Random(rng)->field();
  return block_.At(block_.PlaceAt(rng.Below(block_.count())));
}

std::vector<Field> FieldTable::Sample(size_t count, Rng& rng) const {
  // For up to a quarter of the fields, at most one draw in four repeats an earlier draw.
  const bool few = large_ && count <= size() / 4;
  return few ? DrawFew(count, rng) : DrawMany(std::min(count, size()), rng);
}

std::vector<Field> FieldTable::DrawFew(size_t count, Rng& rng) const {
  std::vector<Field> drawn;
  absl::flat_hash_set<const char*> seen;  // the address of a name identifies it
  while (drawn.size() < count) {
    const Field field = Random(rng);
    if (seen.insert(field.name.data()).second) drawn.push_back(field);
  }
  return drawn;
}

std::vector<Field> FieldTable::DrawMany(size_t count, Rng& rng) const {
  std::vector<Field> fields;
  fields.reserve(size());
  ForEach([&](const Field& field) { fields.push_back(field); });
  for (size_t i = 0; count < fields.size() && i < count; ++i) {
    std::swap(fields[i], fields[i + rng.Below(fields.size() - i)]);
  }
  fields.resize(count);
  return fields;
}

}  // namespace zsetd
