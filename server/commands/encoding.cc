#include "server/commands/encoding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "protocol/number_text.h"

namespace zsetd {
namespace {

constexpr size_t kMaxEmbeddedBytes = 44;   // Redis: OBJ_ENCODING_EMBSTR_SIZE_LIMIT
constexpr size_t kListpackFrameBytes = 7;  // a listpack's header and its end mark

std::string_view NameOf(const ByteString& string, const Settings&) {
  if (string.edited_in_place()) return "raw";
  if (ParseInteger(string.view())) return "int";
  return string.view().size() <= kMaxEmbeddedBytes ? "embstr" : "raw";
}

// list-max-listpack-size: so many elements, or -1 to -5 for 4 KB to 64 KB; what lies beyond counts
// as the nearest of these.
bool FitsListpack(const List& list, int64_t max_size) {
  if (max_size >= 0) return list.size() <= static_cast<size_t>(std::max<int64_t>(max_size, 1));
  const size_t max_bytes = size_t{2048} << -std::max<int64_t>(max_size, -5);
  return list.packed_bytes() + kListpackFrameBytes <= max_bytes;
}

std::string_view NameOf(const List& list, const Settings& settings) {
  return FitsListpack(list, settings.list_max_listpack_size) ? "listpack" : "quicklist";
}

std::string_view NameOf(const Hash& hash, const Settings&) {
  return hash.encoding() == HashEncoding::kListpack ? "listpack" : "hashtable";
}

std::string_view NameOf(const Set& set, const Settings&) {
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

// Redis never takes a set that was too large once back into a listpack.
std::string_view NameOf(const SortedSet& set, const Settings& settings) {
  const bool fits = set.largest_size() <= static_cast<size_t>(settings.zset_max_listpack_entries) &&
                    set.longest_member() <= static_cast<size_t>(settings.zset_max_listpack_value);
  return fits ? "listpack" : "skiplist";
}

}  // namespace

std::string_view EncodingName(const Entry& entry, const Settings& settings) {
  return entry.VisitValue([&](const auto& held) { return NameOf(held, settings); });
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

}  // namespace zsetd
