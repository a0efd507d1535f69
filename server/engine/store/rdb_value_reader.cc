#include "server/engine/store/rdb_value_reader.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>

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

using VisitScored = std::function<bool(std::string_view member, double score)>;

bool ReadScoredStrings(RdbReader& reader, bool as_text, const VisitScored& visit) {
  for (uint64_t left = reader.Length(); left > 0 && reader.ok(); --left) {
    const std::string_view member = reader.String();  // which the score, no string, leaves valid
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

std::optional<Value> MakeHash(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  Hash hash;
  const auto add = [&](std::string_view name, std::string_view value) {
    return hash.Set({.name = name, .value = value}, limits.hash);
  };
  if (!ReadFields(reader, type, add) || hash.empty()) return std::nullopt;
  return hash;
}

std::optional<Value> MakeSortedSet(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  SortedSetBuilder builder;
  const auto add = [&](std::string_view member, double score) {
    if (std::isnan(score)) return false;
    builder.Add(member, score);
    return true;
  };
  if (!ReadScored(reader, type, add) || builder.size() == 0) return std::nullopt;
  std::optional<SortedSet> set = builder.Build();
  if (!set) return std::nullopt;
  set->Expect(set->size(), set->longest_member(), limits.sorted_set);
  return set;
}

std::optional<Value> MakeValue(RdbReader& reader, RdbType type, const ValueLimits& limits) {
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
      return MakeHash(reader, type, limits);
    case RdbType::kZSetOfTexts:
    case RdbType::kZSet:
    case RdbType::kZSetZiplist:
    case RdbType::kZSetListpack:
      return MakeSortedSet(reader, type, limits);
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, const ValueLimits& limits) {
  std::optional<Value> value = MakeValue(reader, type, limits);
  return value ? Entry::Make(key, *std::move(value), deadline) : nullptr;
}

}  // namespace zsetd
