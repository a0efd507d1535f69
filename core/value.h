#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "core/byte_string.h"
#include "core/list.h"
#include "core/sorted_set.h"

namespace zsetd {

// What a key holds. Each alternative is a small movable handle.
using Value = std::variant<ByteString, List, SortedSet>;

// The name TYPE gives: "string", "list", "zset".
std::string_view TypeName(const Value& value);

// Differs from an earlier result if the contents changed in between, the type being the same. O(1).
uint32_t Revision(const Value& value);

// Whether it is an aggregate without elements; a key never keeps such a value. O(1).
bool IsEmptyAggregate(const Value& value);

// Whether freeing it may take so long that other clients would notice. O(1).
bool IsHeavy(const Value& value);

// The heap bytes behind the value, allocator rounding included. O(blocks).
size_t BytesUsed(const Value& value);

Value Clone(const Value& value);  // O(n)

}  // namespace zsetd
