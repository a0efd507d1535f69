#include "server/engine/store/rdb_value_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/sorted_set/sorted_set_builder.h"
#include "protocol/rdb/rdb_elements.h"
#include "server/engine/store/stream/stream_rdb_reader.h"

namespace zsetd {
namespace {

std::nullopt_t Unsound(RdbReader& reader) {
  reader.Break();
  return std::nullopt;
}

// Each Make... returns the whole value. It returns nothing if the value is unsound, which breaks
// the reader, or if it is empty.
std::optional<Value> MakeList(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  List list;
  const auto add = [&](std::string_view element) {
    list.PushBack(element);
    return true;
  };
  if (!ReadRdbElements(reader, type, add)) return Unsound(reader);
  if (list.empty()) return std::nullopt;
  list.Expect(0, 0, limits.list);
  return list;
}

std::optional<Value> MakeSet(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  Set set;
  const auto add = [&](std::string_view member) { return set.Add(member, limits.set); };
  if (!ReadRdbElements(reader, type, add)) return Unsound(reader);
  if (!set.empty()) return set;
  if (type == RdbType::kSetIntset) return Unsound(reader);  // no server wrote an empty one
  return std::nullopt;
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
                            ? ReadRdbFieldsWithDeadlines(reader, type, now, add_with_deadline)
                            : ReadRdbFields(reader, type, add);
  if (!is_sound) return Unsound(reader);
  if (!hash.empty()) return hash;
  if (type == RdbType::kHashZipmap) return Unsound(reader);  // no server wrote an empty one
  return std::nullopt;
}

// A set whose scores have a form.
std::optional<Value> MakeSortedSetOfForm(RdbReader& reader, const ValueLimits& limits) {
  const std::optional<ScoreForm> form = ScoreForm::Read(reader.String());
  if (!reader.ok() || !form || form->is_double()) return Unsound(reader);
  SortedSetBuilder builder(*form);
  const auto add = [&](const RdbElement& element) {
    if (!form->IsCode(element.code)) return false;
    builder.Add(element.member, ScoreOf(element.code), element.deadline);
    if (element.payload) builder.SetPayload(element.member, *element.payload);
    return true;
  };
  if (!ReadRdbCoded(reader, add)) return Unsound(reader);
  if (builder.size() == 0) return std::nullopt;
  std::optional<SortedSet> set = builder.Build();
  if (!set) return Unsound(reader);
  set->Expect(set->size(), set->longest_member(), limits.sorted_set);
  return set;
}

std::optional<Value> MakeSortedSet(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  SortedSetBuilder builder;
  const auto add = [&](std::string_view member, double score) {
    builder.Add(member, score);
    return true;
  };
  const auto add_with_deadline = [&](std::string_view member, double score,
                                     std::optional<Millis> deadline) {
    builder.Add(member, score, deadline);
    return true;
  };
  const auto add_with_payload = [&](const RdbElement& element) {
    builder.Add(element.member, element.score, element.deadline);
    if (element.payload) builder.SetPayload(element.member, *element.payload);
    return true;
  };
  const bool is_sound =
      type == RdbType::kZSetDeadlines  ? ReadRdbScoredWithDeadlines(reader, add_with_deadline)
      : type == RdbType::kZSetPayloads ? ReadRdbScoredWithPayloads(reader, add_with_payload)
                                       : ReadRdbScored(reader, type, add);
  if (!is_sound) return Unsound(reader);
  if (builder.size() == 0) return std::nullopt;
  std::optional<SortedSet> set = builder.Build();
  if (!set) return Unsound(reader);
  set->Expect(set->size(), set->longest_member(), limits.sorted_set);
  return set;
}

// An empty stream is a value.
std::optional<Value> MakeStream(RdbReader& reader, RdbType type, const ValueLimits& limits) {
  std::optional<Stream> stream = ReadRdbStream(reader, type, limits.stream);
  if (!stream) return Unsound(reader);
  return *std::move(stream);
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
    case RdbType::kZSetPayloads:
      return MakeSortedSet(reader, type, limits);
    case RdbType::kZSetForm:
      return MakeSortedSetOfForm(reader, limits);
    case RdbType::kStream:
    case RdbType::kStream2:
    case RdbType::kStream3:
    case RdbType::kStream4:
    case RdbType::kStream5:
      return MakeStream(reader, type, limits);
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool IsReadable(RdbType type) {
  switch (type) {
    case RdbType::kModuleOfOld:
    case RdbType::kModule:
      return false;
    case RdbType::kZSetDeadlines:
    case RdbType::kZSetPayloads:
    case RdbType::kZSetForm:
      return true;
    default:
      break;
  }
  constexpr int kUnused[] = {8, 23};
  return type <= RdbType::kHashListpackTriples &&
         std::ranges::find(kUnused, static_cast<int>(type)) == std::end(kUnused);
}

std::unique_ptr<Entry> ReadValue(RdbReader& reader, RdbType type, std::string_view key,
                                 std::optional<Millis> deadline, Millis now,
                                 const ValueLimits& limits) {
  std::optional<Value> value = MakeValue(reader, type, now, limits);
  return value ? Entry::Make(key, *std::move(value), deadline) : nullptr;
}

}  // namespace zsetd
