#include "server/engine/config/setting_suggestion.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "server/engine/config/settings_table.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr size_t kMostLetters = 64;
constexpr size_t kMostChanges = 2;

// Returns the number of changes that turn one name into the other. "Damerau-Levenshtein distance",
// in the variant that changes no letter twice (optimal string alignment).
size_t ChangesBetween(std::string_view a, std::string_view b) {
  using Row = std::array<size_t, kMostLetters + 1>;
  Row before_last{}, last{}, row{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + differs});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view SuggestedSetting(std::string_view name) {
  if (name.size() > kMostLetters) return {};
  const std::string wanted = LowerCase(name);
  std::string_view best;
  size_t least = std::min(kMostChanges, name.size() / 3) + 1;
  for (const Setting& setting : AllSettings()) {
    const auto [shorter, longer] = std::minmax({wanted.size(), setting.name.size()});
    if (longer > kMostLetters || longer - shorter >= least) continue;
    const size_t changes = ChangesBetween(wanted, setting.name);
    if (changes >= least) continue;
    least = changes;
    best = setting.name;
  }
  return best;
}

}  // namespace zsetd
