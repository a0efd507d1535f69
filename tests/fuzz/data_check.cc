#include "tests/fuzz/data_check.h"

#include <optional>
#include <utility>

namespace zsetd {
namespace {

std::string CheckSortedSet(const SortedSet& set) {
  size_t count = 0;
  std::optional<std::pair<double, std::string>> last;
  for (auto at = set.At(0); at.valid(); at.Next(), ++count) {
    const Element element = at.element();
    std::pair<double, std::string> now(element.score, element.member);
    if (last && !(*last < now)) return "a sorted set is out of order";
    if (set.Score(element.member) != element.score) return "a sorted set has lost a member";
    if (set.Rank(element.member) != count) return "a sorted set counts wrong";
    last = std::move(now);
  }
  return count == set.size() ? "" : "a sorted set tells a wrong size";
}

std::string CheckEntry(const Entry& entry) {
  const bool is_empty = entry.VisitValue([]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, ByteString>) {
      return false;
    } else {
      return value.empty();
    }
  });
  if (is_empty) return "a key holds an empty value";
  const SortedSet* const set = entry.GetIf<SortedSet>();
  return set == nullptr ? "" : CheckSortedSet(*set);
}

}  // namespace

std::string WrongInData(Engine& engine) {
  std::string wrong;
  for (int index = 0; index < engine.database_count(); ++index) {
    engine.database(index).keys().ForEach([&](const Entry& entry) {
      if (wrong.empty()) wrong = CheckEntry(entry);
    });
  }
  return wrong;
}

}  // namespace zsetd
