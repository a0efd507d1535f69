#include "server/commands/common/encoding.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/keyspace/value.h"
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
  switch (hash.encoding()) {
    case HashEncoding::kListpack:
      return "listpack";
    case HashEncoding::kListpackEx:
      return "listpackex";
    case HashEncoding::kHashtable:
      break;
  }
  return "hashtable";
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

std::string_view NameOf(const Stream&) { return "stream"; }

}  // namespace

std::string_view EncodingName(const Entry& entry) {
  return entry.VisitValue([](const auto& held) { return NameOf(held); });
}

}  // namespace zsetd
