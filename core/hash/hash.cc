#include "core/hash/hash.h"

#include <algorithm>

#include "core/sorted_set/sorted_set.h"

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

bool Hash::Set(const Field& field, const HashLimits& limits, OldDeadline old_deadline) {
  if (std::max(field.name.size(), field.value.size()) > limits.listpack_value) {
    encoding_ = HashEncoding::kHashtable;
  }
  const bool is_new = fields_.Set(field, /*keep_order=*/encoding_ == HashEncoding::kListpack);
  ++revision_;
  if (!is_new && has_deadlines() && old_deadline == OldDeadline::kRemove) {
    fields_.SetDeadline(field.name, std::nullopt);
  }
  const bool is_too_long = encoding_ == HashEncoding::kListpack && !fields_.keeps_order();
  if (size() > limits.listpack_entries || is_too_long) encoding_ = HashEncoding::kHashtable;
  return is_new;
}

std::optional<Millis> Hash::EarliestDeadline() const {
  if (!has_deadlines()) return std::nullopt;
  return Millis(static_cast<int64_t>(fields_.deadlines()->At(0).score()));
}

std::optional<Millis> Hash::Deadline(std::string_view name) const {
  if (!has_deadlines()) return std::nullopt;
  const std::optional<double> deadline = fields_.deadlines()->Score(name);
  return deadline ? std::optional(Millis(static_cast<int64_t>(*deadline))) : std::nullopt;
}

bool Hash::SetDeadline(std::string_view name, std::optional<Millis> deadline) {
  constexpr Millis kMost{(int64_t{1} << 46) - 1};
  if (deadline) deadline = std::clamp(*deadline, Millis(1), kMost);
  if (Deadline(name) == deadline || !Contains(name)) return false;
  ++revision_;
  fields_.SetDeadline(name, deadline);
  if (encoding_ == HashEncoding::kListpack) encoding_ = HashEncoding::kListpackEx;
  return true;
}

void Hash::RemoveDue(Millis now, size_t most, std::vector<std::string>& removed) {
  const size_t end = removed.size() + most;
  while (removed.size() < end && has_deadlines() && *EarliestDeadline() <= now) {
    removed.emplace_back(fields_.deadlines()->At(0).member());
    Remove(removed.back());
  }
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
