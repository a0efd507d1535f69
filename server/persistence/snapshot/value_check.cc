#include "server/persistence/snapshot/value_check.h"

#include "core/util/time.h"
#include "protocol/rdb/rdb_elements.h"
#include "server/engine/store/stream/stream_rdb_reader.h"

namespace zsetd {
namespace {

// Returns whether the value can be kept. Breaks the reader if the value is unsound.
bool Keeps(RdbReader& reader, bool is_sound, bool has_elements) {
  if (!is_sound) reader.Break();
  return is_sound && has_elements;
}

bool CheckList(RdbReader& reader, RdbType type) {
  bool has_elements = false;
  const auto note = [&](std::string_view) { return has_elements = true; };
  const bool is_sound = ReadRdbElements(reader, type, note);
  return Keeps(reader, is_sound, has_elements);
}

bool Keeps(RdbReader& reader, bool is_sound, NameHashes& names) {
  return Keeps(reader, is_sound && !names.HasDuplicate(), names.size() > 0);
}

bool CheckSet(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view member) {
    names.Add(member);
    return true;
  };
  const bool is_sound = ReadRdbElements(reader, type, add);
  const bool may_be_empty = type != RdbType::kSetIntset;  // no server wrote an empty one
  return Keeps(reader, is_sound && (may_be_empty || names.size() > 0), names);
}

bool CheckHash(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view name, std::string_view) {
    names.Add(name);
    return true;
  };
  const bool is_sound = ReadRdbFields(reader, type, add);
  const bool may_be_empty = type != RdbType::kHashZipmap;  // no server wrote an empty one
  return Keeps(reader, is_sound && (may_be_empty || names.size() > 0), names);
}

bool CheckHashWithDeadlines(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view name, std::string_view, RdbDeadline) {
    names.Add(name);
    return true;
  };
  const bool is_sound = ReadRdbFieldsWithDeadlines(reader, type, Millis::min(), add);
  return Keeps(reader, is_sound, names);
}

bool CheckSortedSet(RdbReader& reader, RdbType type, NameHashes& names) {
  const auto add = [&](std::string_view member, double) {
    names.Add(member);
    return true;
  };
  return Keeps(reader, ReadRdbScored(reader, type, add), names);
}

bool CheckStream(RdbReader& reader, RdbType type) {
  const bool is_sound = ReadRdbStream(reader, type, StreamLimits()).has_value();
  return Keeps(reader, is_sound, /*has_elements=*/true);
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
      return CheckSortedSet(reader, type, names);
    case RdbType::kStream:
    case RdbType::kStream2:
    case RdbType::kStream3:
    case RdbType::kStream4:
    case RdbType::kStream5:
      return CheckStream(reader, type);
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
    case RdbType::kZSetDeadlines:  // only in payloads of DUMP
    case RdbType::kZSetPayloads:
    case RdbType::kZSetForm:
      break;
  }
  return false;
}

}  // namespace zsetd
