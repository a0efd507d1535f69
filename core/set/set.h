#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/hash/field_table.h"
#include "core/util/rng.h"

namespace zsetd {

// The encoding that Redis would use for a set, which depends on its history: it changes only to
// later values of this enum. It defines the order in which members are visited: numeric order for
// an intset, insertion order for a listpack, any order for a hashtable.
enum class SetEncoding : uint8_t { kIntset, kListpack, kHashtable };

// The limits of the encodings: members, and bytes of a member.
struct SetLimits {
  size_t intset_entries = 512;
  size_t listpack_entries = 128;
  size_t listpack_value = 64;
};

// Unique members: a table of fields without values.
//
// Invariants: the revision grows by one with each member that is added or removed; the members of
// an intset are integers in their shortest spelling. Movable, not copyable; a moved-from set may
// only be assigned to. Costs are for n members. Views are valid until the next change. A member
// argument must not view the same set.
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

  // Return whether the set has changed. O(1) expected.
  bool Add(std::string_view member, const SetLimits& limits = SetLimits());
  bool Remove(std::string_view member);

  // Must be called before this number of members is added, `first` before the others; all may be
  // new. Like Redis, chooses an encoding for all of them in advance.
  void Expect(std::string_view first, size_t members, const SetLimits& limits);

  // Removes and returns all members. O(1).
  Set TakeAll();

  // A random member, all equally likely. Precondition: the set is not empty. O(1) expected.
  std::string_view Random(Rng& rng) const { return members_.Random(rng).name; }

  // Different random members; see FieldTable::Sample. If the result has all members, they are in
  // the order of ForEach().
  std::vector<Field> Sample(size_t count, Rng& rng) const;

  // Calls visit(std::string_view) for each member, in the order of the encoding. The set must not
  // change during the call. O(n), and O(n log n) for an intset.
  template <class Visit>
  void ForEach(Visit visit) const {
    if (encoding_ == SetEncoding::kIntset) {
      for (const std::string_view member : InNumericOrder()) visit(member);
    } else {
      members_.ForEach([&](const Field& field) { visit(field.name); });
    }
  }

  // See FieldTable::ForEachChain.
  template <class Visit>
  void ForEachChain(Visit&& visit) const {
    members_.ForEachChain(visit);
  }

  // Like ForEach(), but visits some members per call, and all of an intset; see FieldTable::Scan.
  template <class Visit>
  uint64_t Scan(uint64_t cursor, Visit visit) const {
    if (encoding_ == SetEncoding::kIntset) {
      ForEach(visit);
      return 0;
    }
    return members_.Scan(cursor, [&](const Field& field) { visit(field.name); });
  }

  // See FieldTable::StartSnapshot and FieldTable::identity.
  std::unique_ptr<TableSnapshot> StartSnapshot() const { return members_.StartSnapshot(); }
  const void* identity() const { return members_.identity(); }

 private:
  SetEncoding EncodingWith(std::string_view member, const SetLimits& limits) const;
  std::vector<std::string_view> InNumericOrder() const;
  void LeaveIntset(SetEncoding encoding);

  FieldTable members_;
  uint32_t revision_ = 0;
  SetEncoding encoding_ = SetEncoding::kIntset;
};

}  // namespace zsetd
