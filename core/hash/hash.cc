#include "core/hash/hash.h"

#include <algorithm>

namespace zsetd {

Hash Hash::Clone() const {
  Hash copy;
  copy.fields_ = fields_.Clone();
  copy.encoding_ = encoding_;
  return copy;
}

std::optional<std::string_view> Hash::Get(std::string_view name) const {
  const std::optional<Field> field = fields_.Find(name);
  return field ? std::optional(field->value) : std::nullopt;
}

bool Hash::Set(const Field& field, const HashLimits& limits) {
  if (std::max(field.name.size(), field.value.size()) > limits.listpack_value) {
    encoding_ = HashEncoding::kHashtable;
  }
  const bool is_new = fields_.Set(field, /*keep_order=*/encoding_ == HashEncoding::kListpack);
  ++revision_;
  if (size() > limits.listpack_entries || !fields_.keeps_order()) {
    encoding_ = HashEncoding::kHashtable;
  }
  return is_new;
}

bool Hash::Remove(std::string_view name) {
  const bool removed = fields_.Erase(name);
  revision_ += removed;
  return removed;
}

void Hash::Expect(size_t fields, const HashLimits& limits) {
  if (fields > limits.listpack_entries) encoding_ = HashEncoding::kHashtable;
}

}  // namespace zsetd
