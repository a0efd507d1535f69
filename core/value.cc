#include "core/value.h"

#include <array>

namespace zsetd {
namespace {

// Some tens of microseconds to free.
constexpr size_t kLightBytes = 1 << 20;
constexpr size_t kLightElements = 4096;

ByteString CloneOf(const ByteString& string) { return string; }
List CloneOf(const List& list) { return list.Clone(); }
SortedSet CloneOf(const SortedSet& set) { return set.Clone(); }

bool IsHeavy(const ByteString& string) { return string.view().size() > kLightBytes; }
bool IsHeavy(const List& list) {
  return list.packed_bytes() > kLightBytes || list.size() > kLightElements;
}
bool IsHeavy(const SortedSet& set) { return set.size() > kLightElements; }

}  // namespace

std::string_view TypeName(const Value& value) {
  static constexpr std::array<std::string_view, std::variant_size_v<Value>> kNames = {
      "string", "list", "zset"};
  return kNames[value.index()];
}

uint32_t Revision(const Value& value) {
  return std::visit([](const auto& held) { return held.revision(); }, value);
}

bool IsEmptyAggregate(const Value& value) {
  if (const auto* list = std::get_if<List>(&value)) return list->empty();
  if (const auto* set = std::get_if<SortedSet>(&value)) return set->empty();
  return false;
}

bool IsHeavy(const Value& value) {
  return std::visit([](const auto& held) { return IsHeavy(held); }, value);
}

size_t BytesUsed(const Value& value) {
  return std::visit([](const auto& held) { return held.BytesUsed(); }, value);
}

Value Clone(const Value& value) {
  return std::visit([](const auto& held) { return Value(CloneOf(held)); }, value);
}

}  // namespace zsetd
