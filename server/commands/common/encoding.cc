#include "server/commands/common/encoding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "protocol/text/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kMaxEmbeddedBytes = 44;  // Redis: OBJ_ENCODING_EMBSTR_SIZE_LIMIT

std::string_view NameOf(const ByteString& string) {
  if (string.edited_in_place()) return "raw";
  if (ParseInteger(string.view())) return "int";
  return string.view().size() <= kMaxEmbeddedBytes ? "embstr" : "raw";
}

std::string_view NameOf(const List& list) {
  return list.encoding() == ListEncoding::kListpack ? "listpack" : "quicklist";
}

std::string_view NameOf(const Hash& hash) {
  return hash.encoding() == HashEncoding::kListpack ? "listpack" : "hashtable";
}

std::string_view NameOf(const Set& set) {
  switch (set.encoding()) {
    case SetEncoding::kIntset:
      return "intset";
    case SetEncoding::kListpack:
      return "listpack";
    case SetEncoding::kHashtable:
      break;
  }
  return "hashtable";
}

std::string_view NameOf(const SortedSet& set) {
  return set.encoding() == SortedSetEncoding::kListpack ? "listpack" : "skiplist";
}

}  // namespace

std::string_view EncodingName(const Entry& entry) {
  return entry.VisitValue([](const auto& held) { return NameOf(held); });
}

// So many elements, or -1 to -5 for 4 KB to 64 KB; what lies beyond counts as the nearest of these.
ListLimits ListLimitsOf(const Settings& settings) {
  const int64_t size = settings.list_max_listpack_size;
  if (size >= 0) return {.elements = static_cast<size_t>(std::max<int64_t>(size, 1))};
  return {.bytes = size_t{2048} << -std::max<int64_t>(size, -5)};
}

SortedSetLimits SortedSetLimitsOf(const Settings& settings) {
  return {.listpack_entries = static_cast<size_t>(settings.zset_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.zset_max_listpack_value)};
}

HashLimits HashLimitsOf(const Settings& settings) {
  return {.listpack_entries = static_cast<size_t>(settings.hash_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.hash_max_listpack_value)};
}

SetLimits SetLimitsOf(const Settings& settings) {
  return {.intset_entries = static_cast<size_t>(settings.set_max_intset_entries),
          .listpack_entries = static_cast<size_t>(settings.set_max_listpack_entries),
          .listpack_value = static_cast<size_t>(settings.set_max_listpack_value)};
}

ValueLimits ValueLimitsOf(const Settings& settings) {
  return {.list = ListLimitsOf(settings),
          .hash = HashLimitsOf(settings),
          .set = SetLimitsOf(settings),
          .sorted_set = SortedSetLimitsOf(settings)};
}

}  // namespace zsetd
