#include "server/engine/store/rdb_value_reader.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/sorted_set/sorted_set_builder.h"
#include "protocol/rdb/packed_elements.h"
#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

using VisitPair = std::function<bool(std::string_view first, std::string_view second)>;
using ReadPacked = bool (*)(std::string_view, const VisitElement&);

// Each Read... reads what follows the type byte and calls `visit` for all elements in order. False
// if the bytes are not sound or `visit` returned false.
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
    if (is_packed ? !ReadListpack(piece, visit) : !visit(piece)) return false;
  }
  return reader.ok();
}

bool ReadElements(RdbReader& reader, RdbType type, const VisitElement& visit) {
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

// Consecutive elements, two of which form a pair.
bool ReadPackedPairs(RdbReader& reader, ReadPacked read, const VisitPair& visit) {
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

bool ReadStringPairs(RdbReader& reader, const VisitPair& visit) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const std::string first(reader.String());
    const std::string_view second = reader.String();
    if (!reader.ok() || !visit(first, second)) return false;
  }
  return reader.ok();
}

bool ReadFields(RdbReader& reader, RdbType type, const VisitPair& visit) {
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

using VisitField = std::function<bool(std::string_view name, std::string_view value,
                                      std::optional<Millis> deadline)>;

// Calls `visit` for the fields whose deadlines have not passed.
bool ReadStringTriples(RdbReader& reader, RdbType type, Millis now, const VisitField& visit) {
  const bool is_valkey = type == RdbType::kValkeyHash;
  const auto first = is_valkey ? Millis(0) : Millis(static_cast<int64_t>(reader.LittleEndian(8)));
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const uint64_t after_first = is_valkey ? 0 : reader.Length();  // 0: none; 1: the first itself
    const std::string name(reader.String());
    const std::string value(reader.String());
    std::optional<Millis> deadline;
    if (is_valkey) {
      const auto given = static_cast<int64_t>(reader.LittleEndian(8));
      if (given != -1) deadline = Millis(given);
    } else if (after_first > 0) {
      int64_t sum = 0;
      const bool is_too_late =
          after_first > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
          __builtin_add_overflow(first.count(), static_cast<int64_t>(after_first) - 1, &sum);
      deadline = is_too_late ? Millis::max() : Millis(sum);
    }
    const bool has_passed = deadline && *deadline <= now;
    if (!reader.ok() || (!has_passed && !visit(name, value, deadline))) return false;
  }
  return reader.ok();
}

bool ReadListpackTriples(RdbReader& reader, Millis now, const VisitField& visit) {
  reader.LittleEndian(8);  // the first deadline, which stands in the listpack too
  std::vector<std::string> parts;
  const auto take = [&](std::string_view element) {
    if (parts.size() < 2) {
      parts.emplace_back(element);
      return true;
    }
    const std::optional<int64_t> given = ParseInteger(element);  // 0: none
    if (!given) return false;
    const std::optional<Millis> deadline =
        *given == 0 ? std::nullopt : std::optional(Millis(*given));
    const bool has_passed = deadline && *deadline <= now;
    const bool goes_on = has_passed || visit(parts[0], parts[1], deadline);
    parts.clear();
    return goes_on;
  };
  return ReadOne(reader, ReadListpack, take) && parts.empty();
}

// Fields with deadlines. Unsound ones break the reader, which distinguishes them from a hash of
// which no field is left.
bool ReadFieldsWithDeadlines(RdbReader& reader, RdbType type, Millis now, const VisitField& visit) {
  const bool is_sound = type == RdbType::kHashListpackTriples
                            ? ReadListpackTriples(reader, now, visit)
                            : ReadStringTriples(reader, type, now, visit);
  if (!is_sound) reader.Break();
  return is_sound;
}

using VisitScored = std::function<bool(std::string_view member, double score)>;

bool ReadScoredStrings(RdbReader& reader, bool as_text, const VisitScored& visit) {
  std::string member;  // a copy, for any read may end the validity of a string
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    member = reader.String();
    const double score = as_text ? reader.DoubleFromText() : reader.Double();
    if (!reader.ok() || !visit(member, score)) return false;
  }
  return reader.ok();
}

bool ReadScored(RdbReader& reader, RdbType type, const VisitScored& visit) {
  const auto visit_pair = [&](std::string_view member, std::string_view text) {
    const std::optional<double> score = ParseDouble(text);
    return score && visit(member, *score);
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

// Each Make... returns the whole value, or nothing.
std::optional<Value> MakeList(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  List list;
  const auto add = [&](std::string_view element) {
    list.PushBack(element);
    return true;
  };
  if (!ReadElements(reader, type, add) || list.empty()) return std::nullopt;
  list.Expect(0, 0, limits.list);
  return list;
}

std::optional<Value> MakeSet(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  Set set;
  const auto add = [&](std::string_view member) { return set.Add(member, limits.set); };
  if (!ReadElements(reader, type, add) || set.empty()) return std::nullopt;
  return set;
}

std::optional<Value> MakeHash(RdbReader& reader, RdbType type, Millis now,
                              const ValueLimits& limits) {
  Hash hash;
  const auto add = [&](std::string_view name, std::string_view value) {
    return hash.Set({.name = name, .value = value}, limits.hash);
  };
  const auto add_with_deadline = [&](std::string_view name, std::string_view value,
                                     std::optional<Millis> deadline) {
    if (!add(name, value)) return false;
    if (deadline) hash.SetDeadline(name, deadline);
    return true;
  };
  const bool is_sound = HasFieldDeadlines(type)
                            ? ReadFieldsWithDeadlines(reader, type, now, add_with_deadline)
                            : ReadFields(reader, type, add);
  if (!is_sound || hash.empty()) return std::nullopt;
  return hash;
}

// Members whose deadline has passed are kept: they are due at once.
bool ReadWithDeadlines(RdbReader& reader, SortedSetBuilder& builder) {
  constexpr auto kFurthest = uint64_t{1} << 46;
  uint64_t left = reader.Length();
  const uint64_t first = reader.Length();
  std::string member;
  for (; left > 0 && reader.ok(); --left) {
    member = reader.String();
    const double score = reader.Double();
    const uint64_t after_first = reader.Length();
    const bool is_sound = first < kFurthest && after_first < kFurthest && !std::isnan(score);
    if (!reader.ok() || !is_sound) return false;
    const auto deadline = static_cast<int64_t>(first + after_first) - 1;
    builder.Add(member, score, after_first == 0 ? std::nullopt : std::optional(Millis(deadline)));
  }
  return reader.ok();
}

std::optional<Value> MakeSortedSet(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  SortedSetBuilder builder;
  const auto add = [&](std::string_view member, double score) {
    if (std::isnan(score)) return false;
    builder.Add(member, score);
    return true;
  };
  const bool is_sound = type == RdbType::kZSetDeadlines ? ReadWithDeadlines(reader, builder)
                                                        : ReadScored(reader, type, add);
  if (!is_sound || builder.size() == 0) return std::nullopt;
  std::optional<SortedSet> set = builder.Build();
  if (!set) return std::nullopt;
  set->Expect(set->size(), set->longest_member(), limits.sorted_set);
  return set;
}

std::optional<Value> MakeValue(RdbReader& reader, RdbType type, Millis now,
                               const ValueLimits& limits) {
  switch (type) {
    case RdbType::kString: {
      const ByteString string(reader.String());
      return reader.ok() ? std::optional<Value>(string) : std::nullopt;
    }
    case RdbType::kList:
    case RdbType::kListZiplist:
    case RdbType::kListOfZiplists:
    case RdbType::kListOfListpacks:
      return MakeList(reader, type, limits);
    case RdbType::kSet:
    case RdbType::kSetIntset:
    case RdbType::kSetListpack:
      return MakeSet(reader, type, limits);
    case RdbType::kHash:
    case RdbType::kHashZipmap:
    case RdbType::kHashZiplist:
    case RdbType::kHashListpack:
    case RdbType::kValkeyHash:
    case RdbType::kHashDeadlines:
    case RdbType::kHashListpackTriples:
      return MakeHash(reader, type, now, limits);
    case RdbType::kZSetOfTexts:
    case RdbType::kZSet:
    case RdbType::kZSetZiplist:
    case RdbType::kZSetListpack:
    case RdbType::kZSetDeadlines:
      return MakeSortedSet(reader, type, limits);
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
    case RdbType::kStream:
    case RdbType::kStream2:
    case RdbType::kStream3:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool HasFieldDeadlines(RdbType type) {
  return type == RdbType::kValkeyHash || type == RdbType::kHashDeadlines ||
         type == RdbType::kHashListpackTriples;
}

std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, Millis now,
                                 const ValueLimits& limits) {
  std::optional<Value> value = MakeValue(reader, type, now, limits);
  return value ? Entry::Make(key, *std::move(value), deadline) : nullptr;
}

}  // namespace zsetd
