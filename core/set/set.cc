#include "core/set/set.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/util/numeral.h"

namespace zsetd {
namespace {

// Whether the text is a signed 64-bit integer in its canonical form.
bool IsInteger(std::string_view text) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const bool negative = text.starts_with('-');
  const auto number = ParseNumeral(text.substr(negative ? 1 : 0), kShortest);
  if (!number || (negative && *number == 0)) return false;
  return *number <= (negative ? kMost + 1 : kMost);
}

int64_t NumberOf(std::string_view integer) {
  int64_t number = 0;
  const auto result = std::from_chars(integer.data(), integer.data() + integer.size(), number);
  assert(result.ec == std::errc() && result.ptr == integer.data() + integer.size());
  static_cast<void>(result);
  return number;
}

}  // namespace

Set Set::Clone() const {
  Set copy;
  copy.members_ = members_.Clone();
  copy.encoding_ = encoding_;
  return copy;
}

bool Set::Add(std::string_view member, const SetLimits& limits) {
  if (Contains(member)) return false;
  if (empty()) Expect(member, 1, limits);
  LeaveIntset(EncodingWith(member, limits));
  members_.Insert({.name = member, .value = {}},
                  /*keep_order=*/encoding_ == SetEncoding::kListpack);
  if (encoding_ == SetEncoding::kListpack && !members_.keeps_order()) {
    encoding_ = SetEncoding::kHashtable;
  }
  ++revision_;
  return true;
}

bool Set::Remove(std::string_view member) {
  const bool removed = members_.Erase(member);
  revision_ += removed;
  return removed;
}

Set Set::TakeAll() {
  Set taken;
  revision_ += size();
  std::swap(taken.members_, members_);
  taken.encoding_ = encoding_;
  return taken;
}

void Set::Expect(std::string_view first, size_t members, const SetLimits& limits) {
  const bool fits_intset = members <= limits.intset_entries;
  const bool fits_listpack = members <= limits.listpack_entries;
  if (encoding_ == SetEncoding::kIntset && fits_intset && (!empty() || IsInteger(first))) return;
  const bool packed = fits_listpack && (empty() || encoding_ == SetEncoding::kListpack);
  if (encoding_ != SetEncoding::kHashtable) {
    LeaveIntset(packed ? SetEncoding::kListpack : SetEncoding::kHashtable);
  }
}

std::vector<Field> Set::Sample(size_t count, Rng& rng) const {
  if (encoding_ != SetEncoding::kIntset || count < size()) return members_.Sample(count, rng);
  std::vector<Field> all;
  all.reserve(size());
  ForEach([&](std::string_view member) { all.push_back({.name = member, .value = {}}); });
  return all;
}

std::vector<std::string_view> Set::InNumericOrder() const {
  assert(encoding_ == SetEncoding::kIntset);
  struct Item {
    int64_t number;
    std::string_view member;
  };
  std::vector<Item> items;
  items.reserve(size());
  members_.ForEach([&](const Field& field) {
    items.push_back({.number = NumberOf(field.name), .member = field.name});
  });
  // Members often arrive in order, and then one pass is enough.
  if (!std::ranges::is_sorted(items, {}, &Item::number)) {
    std::ranges::sort(items, {}, &Item::number);
  }
  std::vector<std::string_view> members;
  members.reserve(items.size());
  for (const Item& item : items) members.push_back(item.member);
  return members;
}

// Changes the encoding. As in Redis, the integers of an intset stay in order when it becomes a
// listpack.
void Set::LeaveIntset(SetEncoding encoding) {
  if (encoding_ == SetEncoding::kIntset && encoding == SetEncoding::kListpack) {
    FieldTable ordered;
    for (const std::string_view member : InNumericOrder()) {
      ordered.Insert({.name = member, .value = {}}, /*keep_order=*/true);
    }
    members_ = std::move(ordered);
  }
  encoding_ = encoding;
}

// The encoding after this member is added.
SetEncoding Set::EncodingWith(std::string_view member, const SetLimits& limits) const {
  const size_t size_then = size() + 1;
  if (encoding_ == SetEncoding::kIntset && IsInteger(member)) {
    return size_then <= limits.intset_entries ? SetEncoding::kIntset : SetEncoding::kHashtable;
  }
  const bool packed = encoding_ != SetEncoding::kHashtable &&
                      size_then <= limits.listpack_entries &&
                      member.size() <= limits.listpack_value;
  return packed ? SetEncoding::kListpack : SetEncoding::kHashtable;
}

}  // namespace zsetd
