// The elements of values in Redis's format, in the order in which they are written.
//
// Each function reads the bytes after the type byte and the key, and calls `visit` for each
// element. It returns false if the bytes are not sound, if the type is not one of its own, or if
// `visit` returned false. A view is valid during the call of `visit`. The bytes are not trusted.
// O(bytes).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "protocol/rdb/packed_elements.h"
#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_reader.h"

namespace zsetd {

using RdbDeadline = std::optional<std::chrono::milliseconds>;  // Unix time; nullopt: no deadline

using VisitField = std::function<bool(std::string_view name, std::string_view value)>;
using VisitFieldWithDeadline =
    std::function<bool(std::string_view name, std::string_view value, RdbDeadline deadline)>;
using VisitScored = std::function<bool(std::string_view member, double score)>;
using VisitScoredWithDeadline =
    std::function<bool(std::string_view member, double score, RdbDeadline deadline)>;

// An element of a sorted set with everything that it may have.
struct RdbElement {
  std::string_view member;
  double score = 0;
  uint64_t code = 0;  // in place of the score: RdbType::kZSetForm
  RdbDeadline deadline;
  std::optional<std::string_view> payload;
};
using VisitRdbElement = std::function<bool(const RdbElement& element)>;

// Lists and sets.
bool ReadRdbElements(RdbReader& reader, RdbType type, const VisitElement& visit);

// Hashes without deadlines.
bool ReadRdbFields(RdbReader& reader, RdbType type, const VisitField& visit);

// Returns whether this is a layout of hashes whose fields have deadlines.
bool HasFieldDeadlines(RdbType type);

// Hashes with deadlines. Leaves out the fields whose deadlines are not after `now`. Unsound bytes
// break the reader. This distinguishes them from a hash whose fields have all expired.
bool ReadRdbFieldsWithDeadlines(RdbReader& reader, RdbType type, std::chrono::milliseconds now,
                                const VisitFieldWithDeadline& visit);

// Sorted sets. A score that is not a number is unsound.
bool ReadRdbScored(RdbReader& reader, RdbType type, const VisitScored& visit);

// RdbType::kZSetDeadlines. Members whose deadlines have passed are included.
bool ReadRdbScoredWithDeadlines(RdbReader& reader, const VisitScoredWithDeadline& visit);

// RdbType::kZSetPayloads, in the same way.
bool ReadRdbScoredWithPayloads(RdbReader& reader, const VisitRdbElement& visit);

// RdbType::kZSetForm, after the text of the form.
bool ReadRdbCoded(RdbReader& reader, const VisitRdbElement& visit);

}  // namespace zsetd
