// A listpack of Redis's with entries of a stream. Each line is one element:
//
//   master    live entries | deleted entries | names | name name ... | 0
//   entry     flags | ms | sequence | [ names | name value name value ... ] | elements before
//   entry     flags | ms | sequence | [ value value ... ] | elements before kListpackSameFields
//
// Times and sequence numbers are differences to an ID that precedes the listpack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace zsetd {

// The flags of an entry.
inline constexpr uint64_t kListpackDeleted = 1;
inline constexpr uint64_t kListpackSameFields = 2;

// The number of elements of an entry that precede the one which contains this number.
constexpr uint64_t ListpackElementsOf(uint64_t fields, bool same_names) {
  return same_names ? 3 + fields : 4 + 2 * fields;
}

}  // namespace zsetd
