#include "protocol/rdb/rdb_elements.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

using std::chrono::milliseconds;
using ReadPacked = bool (*)(std::string_view, const VisitElement&);

bool ReadStrings(RdbReader& reader, const VisitElement& visit) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const std::string_view element = reader.String();
    if (!reader.ok() || !visit(element)) return false;
  }
  return reader.ok();
}

bool ReadOne(RdbReader& reader, ReadPacked read, const VisitElement& visit) {
  const std::string_view packed = reader.String();
  return reader.ok() && read(packed, visit);
}

bool ReadZiplists(RdbReader& reader, const VisitElement& visit) {
  return ReadStrings(reader, [&](std::string_view packed) { return ReadZiplist(packed, visit); });
}

bool ReadContainers(RdbReader& reader, const VisitElement& visit) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const auto container = static_cast<RdbContainer>(reader.Length());
    const std::string_view piece = reader.String();
    const bool is_packed = container == RdbContainer::kPacked;
    if (!reader.ok() || (!is_packed && container != RdbContainer::kPlain)) return false;
    const bool is_sound = is_packed ? ReadListpack(piece, visit) : !piece.empty() && visit(piece);
    if (!is_sound) return false;
  }
  return reader.ok();
}

// Two consecutive elements form a pair.
bool ReadPackedPairs(RdbReader& reader, ReadPacked read, const VisitField& visit) {
  std::optional<std::string> first;
  const auto take = [&](std::string_view element) {
    if (!first) {
      first = element;
      return true;
    }
    const std::string name = *std::exchange(first, std::nullopt);
    return visit(name, element);
  };
  return ReadOne(reader, read, take) && !first;
}

bool ReadStringPairs(RdbReader& reader, const VisitField& visit) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const std::string first(reader.String());
    const std::string_view second = reader.String();
    if (!reader.ok() || !visit(first, second)) return false;
  }
  return reader.ok();
}

bool ReadStringTriples(RdbReader& reader, RdbType type, milliseconds now,
                       const VisitFieldWithDeadline& visit) {
  const bool is_valkey = type == RdbType::kValkeyHash;
  const auto first =
      is_valkey ? milliseconds(0) : milliseconds(static_cast<int64_t>(reader.LittleEndian(8)));
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const uint64_t after_first = is_valkey ? 0 : reader.Length();  // 0: none; 1: the first itself
    const std::string name(reader.String());
    const std::string value(reader.String());
    RdbDeadline deadline;
    if (is_valkey) {
      const auto given = static_cast<int64_t>(reader.LittleEndian(8));
      if (given != -1) deadline = milliseconds(given);
    } else if (after_first > 0) {
      int64_t sum = 0;
      const bool is_too_late =
          after_first > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
          __builtin_add_overflow(first.count(), static_cast<int64_t>(after_first) - 1, &sum);
      deadline = is_too_late ? milliseconds::max() : milliseconds(sum);
    }
    const bool has_passed = deadline && *deadline <= now;
    if (!reader.ok() || (!has_passed && !visit(name, value, deadline))) return false;
  }
  return reader.ok();
}

bool ReadListpackTriples(RdbReader& reader, milliseconds now, const VisitFieldWithDeadline& visit) {
  reader.LittleEndian(8);  // the first deadline, which the listpack contains too
  std::vector<std::string> parts;
  const auto take = [&](std::string_view element) {
    if (parts.size() < 2) {
      parts.emplace_back(element);
      return true;
    }
    const std::optional<int64_t> given = ParseInteger(element);  // 0: none
    if (!given) return false;
    const RdbDeadline deadline = *given == 0 ? std::nullopt : RdbDeadline(milliseconds(*given));
    const bool has_passed = deadline && *deadline <= now;
    const bool goes_on = has_passed || visit(parts[0], parts[1], deadline);
    parts.clear();
    return goes_on;
  };
  return ReadOne(reader, ReadListpack, take) && parts.empty();
}

bool ReadScoredStrings(RdbReader& reader, bool as_text, const VisitScored& visit) {
  std::string member;  // a copy: the next read invalidates a string
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    member = reader.String();
    const double score = as_text ? reader.DoubleFromText() : reader.Double();
    if (!reader.ok() || std::isnan(score) || !visit(member, score)) return false;
  }
  return reader.ok();
}

// The parts of an element that follow its member.
struct TupleParts {
  bool code = false;  // in place of the score
  bool payload = false;
};

// Reads a count, the first deadline, and the elements, each with its deadline and maybe its
// payload.
bool ReadScoredTuples(RdbReader& reader, TupleParts parts, const VisitRdbElement& visit) {
  constexpr auto kFurthest = uint64_t{1} << 46;
  uint64_t left = reader.Length();
  const uint64_t first = reader.Length();
  std::string member;
  for (; left > 0 && reader.ok(); --left) {
    RdbElement element;
    member = reader.String();
    element.member = member;
    if (parts.code) {
      element.code = reader.LittleEndian(8);
    } else {
      element.score = reader.Double();
    }
    const uint64_t after_first = reader.Length();
    const uint64_t has_payload = parts.payload ? reader.Length() : 0;
    if (has_payload == 1) element.payload = reader.String();
    const bool is_sound = first < kFurthest && after_first < kFurthest && has_payload <= 1 &&
                          !std::isnan(element.score);
    if (!reader.ok() || !is_sound) return false;
    if (after_first > 0) {
      element.deadline = milliseconds(static_cast<int64_t>(first + after_first) - 1);
    }
    if (!visit(element)) return false;
  }
  return reader.ok();
}

}  // namespace

bool ReadRdbElements(RdbReader& reader, RdbType type, const VisitElement& visit) {
  switch (type) {
    case RdbType::kList:
    case RdbType::kSet:
      return ReadStrings(reader, visit);
    case RdbType::kListZiplist:
      return ReadOne(reader, ReadZiplist, visit);
    case RdbType::kListOfZiplists:
      return ReadZiplists(reader, visit);
    case RdbType::kListOfListpacks:
      return ReadContainers(reader, visit);
    case RdbType::kSetIntset:
      return ReadOne(reader, ReadIntset, visit);
    case RdbType::kSetListpack:
      return ReadOne(reader, ReadListpack, visit);
    default:
      return false;
  }
}

bool ReadRdbFields(RdbReader& reader, RdbType type, const VisitField& visit) {
  switch (type) {
    case RdbType::kHash:
      return ReadStringPairs(reader, visit);
    case RdbType::kHashZipmap:
      return ReadPackedPairs(reader, ReadZipmap, visit);
    case RdbType::kHashZiplist:
      return ReadPackedPairs(reader, ReadZiplist, visit);
    case RdbType::kHashListpack:
      return ReadPackedPairs(reader, ReadListpack, visit);
    default:
      return false;
  }
}

bool HasFieldDeadlines(RdbType type) {
  return type == RdbType::kValkeyHash || type == RdbType::kHashDeadlines ||
         type == RdbType::kHashListpackTriples;
}

bool ReadRdbFieldsWithDeadlines(RdbReader& reader, RdbType type, milliseconds now,
                                const VisitFieldWithDeadline& visit) {
  const bool is_sound = type == RdbType::kHashListpackTriples
                            ? ReadListpackTriples(reader, now, visit)
                            : ReadStringTriples(reader, type, now, visit);
  if (!is_sound) reader.Break();
  return is_sound;
}

bool ReadRdbScored(RdbReader& reader, RdbType type, const VisitScored& visit) {
  const auto visit_pair = [&](std::string_view member, std::string_view text) {
    const std::optional<double> score = ParseDouble(text);
    return score && !std::isnan(*score) && visit(member, *score);
  };
  switch (type) {
    case RdbType::kZSetOfTexts:
      return ReadScoredStrings(reader, /*as_text=*/true, visit);
    case RdbType::kZSet:
      return ReadScoredStrings(reader, /*as_text=*/false, visit);
    case RdbType::kZSetZiplist:
      return ReadPackedPairs(reader, ReadZiplist, visit_pair);
    case RdbType::kZSetListpack:
      return ReadPackedPairs(reader, ReadListpack, visit_pair);
    default:
      return false;
  }
}

bool ReadRdbScoredWithDeadlines(RdbReader& reader, const VisitScoredWithDeadline& visit) {
  return ReadScoredTuples(reader, {}, [&](const RdbElement& element) {
    return visit(element.member, element.score, element.deadline);
  });
}

bool ReadRdbScoredWithPayloads(RdbReader& reader, const VisitRdbElement& visit) {
  return ReadScoredTuples(reader, {.payload = true}, visit);
}

bool ReadRdbCoded(RdbReader& reader, const VisitRdbElement& visit) {
  return ReadScoredTuples(reader, {.code = true, .payload = true}, visit);
}

}  // namespace zsetd
