#pragma once

#include <algorithm>
#include <string_view>

#include "core/sorted_set/block/block_format.h"

namespace zsetd {

// The shortest part of `right`'s member that is above `left`'s, which comes before it; nothing
// where their scores alone separate them.
inline std::string_view TieBreaker(const BlockItem& left, const BlockItem& right) {
  if (left.code != right.code) return {};
  const size_t shorter = std::min(left.member.size(), right.member.size());
  const auto differ =
      std::mismatch(left.member.begin(), left.member.begin() + shorter, right.member.begin());
  return right.member.substr(0, differ.first - left.member.begin() + 1);
}

}  // namespace zsetd
