#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace zsetd {

// Finds a command's name, in any case, among a few hundred that are known from the start. Every
// request needs it, so names are not compared byte by byte:
//
//   "ZADD"               zadd      zadd                the first bytes and the last, up to eight
//   "ZREVRANGEBYSCORE"   zrevrang  ebyscore            each, in lower case
//                            \        /
//                         multiply, add the length     slot of a table that is mostly empty
//
// These and the length are all there is to compare, too, for letters up to sixteen bytes. Names are
// ours and few, so the hash need not resist attacks.
class NameIndex {
 public:
  // `names` outlive this, and are in lower case.
  explicit NameIndex(std::vector<std::string_view> names);

  // The index of `name` among the names; names().size() if there is no such name.
  size_t Find(std::string_view name) const;

  const std::vector<std::string_view>& names() const { return names_; }

 private:
  static constexpr uint16_t kFree = 0xFFFF;

  // A name's ends, with letters in lower case. Bytes that are not letters may be equal to others.
  struct Folded {
    uint64_t first;
    uint64_t last;
    size_t size;

    bool operator==(const Folded&) const = default;
  };
  struct Name {
    Folded folded;
    bool is_exact;  // no other name has these ends and this length
  };
  static Folded Fold(std::string_view name);
  size_t SlotOf(const Folded& name) const;

  std::vector<std::string_view> names_;
  std::vector<Name> folded_;     // parallel to names_
  std::vector<uint16_t> slots_;  // places; a power of two of them, at least eight for each name
};

}  // namespace zsetd
