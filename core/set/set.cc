#include "core/set/set.h"

#include <limits>
#include <optional>
#include <utility>

#include "core/util/numeral.h"

namespace zsetd {
namespace {

// A signed 64-bit integer in its canonical form.
bool IsInteger(std::string_view text) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const bool negative = text.starts_with('-');
  const auto number = ParseNumeral(text.substr(negative ? 1 : 0), kShortest);
  if (!number || (negative && *number == 0)) return false;
  return *number <= (negative ? kMost + 1 : kMost);
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
  encoding_ = EncodingWith(member, limits);
  members_.Insert({.name = member, .value = {}});
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
  std::swap(taken.members_, members_);
  ++revision_;
  return taken;
}

void Set::Expect(std::string_view first, size_t members, const SetLimits& limits) {
  const bool fits_intset = members <= limits.intset_entries;
  const bool fits_listpack = members <= limits.listpack_entries;
  if (encoding_ == SetEncoding::kIntset && fits_intset && (!empty() || IsInteger(first))) return;
  const bool packed = fits_listpack && (empty() || encoding_ == SetEncoding::kListpack);
  if (encoding_ != SetEncoding::kHashtable) {
    encoding_ = packed ? SetEncoding::kListpack : SetEncoding::kHashtable;
  }
}

// The encoding once this new member has come.
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
