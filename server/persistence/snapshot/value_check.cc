#include "server/persistence/snapshot/value_check.h"

#include "core/util/time.h"
#include "protocol/rdb/rdb_elements.h"

namespace zsetd {
namespace {

bool CheckList(RdbReader& reader, RdbType type) {
  bool has_elements = false;
  const auto note = [&](std::string_view) { return has_elements = true; };
  return ReadRdbElements(reader, type, note) && has_elements;
}

bool HasDifferentNames(NameHashes& names) { return names.size() > 0 && !names.HasDuplicate(); }

bool CheckSet(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view member) {
    names.Add(member);
    return true;
  };
  return ReadRdbElements(reader, type, add) && HasDifferentNames(names);
}

bool CheckHash(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view name, std::string_view) {
    names.Add(name);
    return true;
  };
  return ReadRdbFields(reader, type, add) && HasDifferentNames(names);
}

bool CheckHashWithDeadlines(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view name, std::string_view, RdbDeadline) {
    names.Add(name);
    return true;
  };
  if (!ReadRdbFieldsWithDeadlines(reader, type, Millis::min(), add)) return false;
  if (names.HasDuplicate()) reader.Break();
  return reader.ok() && names.size() > 0;
}

bool CheckSortedSet(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view member, double) {
    names.Add(member);
    return true;
  };
  const auto add_with_deadline = [&](std::string_view member, double, RdbDeadline) {
    names.Add(member);
    return true;
  };
  const bool is_sound = type == RdbType::kZSetDeadlines
                            ? ReadRdbScoredWithDeadlines(reader, add_with_deadline)
                            : ReadRdbScored(reader, type, add);
  return is_sound && HasDifferentNames(names);
}

}  // namespace

bool CheckValue(RdbReader& reader, RdbType type, NameHashes& names) {
  names.Clear();
  switch (type) {
    case RdbType::kString:
      reader.String();
      return reader.ok();
    case RdbType::kList:
    case RdbType::kListZiplist:
    case RdbType::kListOfZiplists:
    case RdbType::kListOfListpacks:
      return CheckList(reader, type);
    case RdbType::kSet:
    case RdbType::kSetIntset:
    case RdbType::kSetListpack:
      return CheckSet(reader, type, names);
    case RdbType::kHash:
    case RdbType::kHashZipmap:
    case RdbType::kHashZiplist:
    case RdbType::kHashListpack:
      return CheckHash(reader, type, names);
    case RdbType::kValkeyHash:
    case RdbType::kHashDeadlines:
    case RdbType::kHashListpackTriples:
      return CheckHashWithDeadlines(reader, type, names);
    case RdbType::kZSetOfTexts:
    case RdbType::kZSet:
    case RdbType::kZSetZiplist:
    case RdbType::kZSetListpack:
    case RdbType::kZSetDeadlines:
      return CheckSortedSet(reader, type, names);
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
    case RdbType::kStream:
    case RdbType::kStream2:
    case RdbType::kStream3:
      break;
  }
  return false;
}

}  // namespace zsetd
