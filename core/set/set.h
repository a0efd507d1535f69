#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/hash/field_table.h"
#include "core/util/rng.h"

namespace zsetd {

// The encoding that Redis would use for a set, which depends on its history: it goes down this list
// and never up. Tools ask for it; zsetd keeps all small sets alike.
enum class SetEncoding : uint8_t { kIntset, kListpack, kHashtable };

// The limits of the encodings: members, and bytes of a member.
struct SetLimits {
  size_t intset_entries = 512;
  size_t listpack_entries = 128;
  size_t listpack_value = 64;
};

// Unique members, in no order that anyone may count on: a table of fields without values.
//
// Invariant: the revision changes with every change of contents. Movable, not copyable; a set that
// was moved from may only be assigned to. Costs are for n members. Views are valid until the next
// change; a member handed in to be added is no view of the same set.
class Set {
 public:
  Set Clone() const;  // O(n)

  size_t size() const { return members_.size(); }  // O(1)
  bool empty() const { return size() == 0; }
  uint32_t revision() const { return revision_; }
  SetEncoding encoding() const { return encoding_; }
  size_t BytesUsed() const { return members_.BytesUsed(); }  // on the heap; O(1)

  bool Contains(std::string_view member) const {
    return members_.Find(member).has_value();
  }  // O(1)

  // Each returns whether there was something to do. O(1) expected.
  bool Add(std::string_view member, const SetLimits& limits = SetLimits());
  bool Remove(std::string_view member);

  // So many members are about to be added, `first` before the others: Redis chooses an encoding
  // that will hold them all, should they all be new.
  void Expect(std::string_view first, size_t members, const SetLimits& limits);

  // Takes all members out. O(1).
  Set TakeAll();

  // A random member, all equally likely; the set is not empty. O(1) expected.
  std::string_view Random(Rng& rng) const { return members_.Random(rng).name; }

  // Different random members; see FieldTable::Sample.
  std::vector<Field> Sample(size_t count, Rng& rng) const { return members_.Sample(count, rng); }

  // Calls visit(std::string_view) for each. Nothing may change meanwhile. O(n).
  template <class Visit>
  void ForEach(Visit visit) const {
    members_.ForEach([&](const Field& field) { visit(field.name); });
  }

  // See FieldTable::ForEachChain.
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    members_.ForEachChain(visit);
  }

  // The same for some of them; see FieldTable::Scan.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const {
    return members_.Scan(cursor, [&](const Field& field) { visit(field.name); });
  }

 private:
  SetEncoding EncodingWith(std::string_view member, const SetLimits& limits) const;

  FieldTable members_;
  uint32_t revision_ = 0;
  SetEncoding encoding_ = SetEncoding::kIntset;
};

}  // namespace zsetd
