// FindKeys() and KeyUses next to a plain model, for random requests of all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/all_commands.h"
#include "server/engine/command/key_specs.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

using Positions = std::vector<size_t>;

// The model: one vector, filled in one pass for each kind of place.
class PlainKeys {
 public:
  PlainKeys(const Command& command, Args argv) : places_(command.keys), argv_(argv) {
    if (!places_.are_channels) Find();
  }

  const Positions& positions() const { return positions_; }

 private:
  size_t WordsOf(std::string_view word) const {
    for (const ValuedOption& option : places_.other_options) {
      if (EqualsIgnoringCase(option.name, word)) return 1 + option.values;
    }
    return 1;
  }

  bool IsOption(size_t at) const {
    return std::ranges::any_of(places_.options, [&](std::string_view option) {
      return EqualsIgnoringCase(option, argv_[at]);
    });
  }

  std::optional<size_t> RestOption() const {
    if (places_.rest_option.empty()) return std::nullopt;
    for (size_t at = places_.options_from; at + 1 < argv_.size(); at += WordsOf(argv_[at])) {
      if (EqualsIgnoringCase(argv_[at], places_.rest_option)) return at;
    }
    return std::nullopt;
  }

  void AddLastOption() {
    std::optional<size_t> last;
    for (size_t at = places_.options_from; at + 1 < argv_.size();) {
      if (IsOption(at)) last = at + 1;
      at += IsOption(at) ? 2 : WordsOf(argv_[at]);
    }
    if (last) positions_.push_back(*last);
  }

  void AddOptions() {
    for (const std::string_view option : places_.options) {
      for (size_t at = places_.options_from; at + 1 < argv_.size(); ++at) {
        if (EqualsIgnoringCase(argv_[at], option)) positions_.push_back(at + 1);
      }
    }
  }

  void Find() {
    const int size = static_cast<int>(argv_.size());
    if (const std::optional<size_t> option = RestOption()) {
      if (places_.first > 0 && !argv_[places_.first].empty()) return;
      const size_t words = argv_.size() - *option - 1;
      const size_t keys = words % places_.rest_divisor == 0 ? words / places_.rest_divisor : 0;
      for (size_t i = 0; i < keys; ++i) positions_.push_back(*option + 1 + i);
      return;
    }
    const int last = places_.last < 0 ? size + places_.last : places_.last;
    for (int at = places_.first; at != 0 && at <= last && at < size; at += places_.step) {
      positions_.push_back(at);
    }
    if (places_.other_options.empty()) {
      AddOptions();
    } else {
      AddLastOption();
    }
    const size_t count_at = places_.count_at;
    if (count_at == 0 || count_at >= argv_.size()) return;
    const std::optional<int64_t> count = ParseInteger(argv_[count_at]);
    if (!count || *count < 1 || static_cast<uint64_t>(*count) >= argv_.size() - count_at) {
      return positions_.clear();
    }
    for (size_t at = count_at + 1; at <= count_at + *count; ++at) positions_.push_back(at);
  }

  const KeyPlaces& places_;
  Args argv_;
  Positions positions_;
};

std::string PlainUse(const Command& command, Args argv, size_t position) {
  const VariableUse& variable = command.variable_use;
  std::string_view use;
  for (const KeySpec& spec : KeySpecsOf(command)) {
    if (static_cast<size_t>(spec.begin) > position) break;
    use = spec.use;
  }
  if (variable.options.empty()) return std::string(use);
  const size_t options_from = std::min(variable.options_from, argv.size());
  const Args words =
      variable.words_of == nullptr ? argv.subspan(options_from) : variable.words_of(argv);
  bool has_any = false;
  for (const std::string_view word : words) {
    for (const std::string_view option : variable.options) {
      has_any |= EqualsIgnoringCase(word, option);
    }
  }
  return std::string(has_any ? variable.with : variable.without);
}

bool Has(const std::string& use, std::string_view flag) {
  return std::ranges::count(Split(use, ' '), flag) > 0;
}

// Words that a row gives a meaning, and others.
std::vector<std::string> VocabularyOf(const Command& row) {
  std::vector<std::string> words = {"", "k", "0", "1", "2", "3", "-1", "x"};
  for (const std::string_view option : row.keys.options) words.emplace_back(option);
  for (const ValuedOption& option : row.keys.other_options) words.emplace_back(option.name);
  for (const std::string_view option : row.variable_use.options) words.emplace_back(option);
  if (!row.keys.rest_option.empty()) words.emplace_back(row.keys.rest_option);
  for (size_t i = words.size(); i-- > 8;) words.push_back(LowerCase(words[i]));
  return words;
}

std::string TextOf(const Command& row, Args argv) {
  std::string text(row.name);
  for (const std::string_view word : argv.subspan(1)) text += " '" + std::string(word) + "'";
  return text;
}

void ExpectLikeTheModel(const Command& row, Args argv) {
  Positions found;
  const RequestKeys keys = FindKeys(row, argv);
  for (const size_t position : keys) found.push_back(position);
  ASSERT_EQ(found, PlainKeys(row, argv).positions()) << TextOf(row, argv);
  ASSERT_EQ(keys.Count(), found.size());
  if (!row.AcceptsCount(argv.size())) return;
  const KeyUses uses(row, argv);
  for (const size_t position : found) {
    const std::string expected = PlainUse(row, argv, position);
    const KeyUse use = uses.At(position);
    ASSERT_EQ(use.flags, expected) << TextOf(row, argv) << " at " << position;
    ASSERT_EQ(use.Reads(), Has(expected, "access"));
    ASSERT_EQ(use.Writes(),
              Has(expected, "insert") || Has(expected, "update") || Has(expected, "delete"));
  }
}

std::vector<Command> AllRows() {
  std::vector<Command> rows;
  for (const std::span<const Command> family : AllCommands()) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  return rows;
}

TEST(KeyFinder, FindsTheKeysAndUsesOfThePlainModelForAllRows) {
  constexpr size_t kRequests = 300;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const Command& row : AllRows()) {
    const std::vector<std::string> vocabulary = VocabularyOf(row);
    for (size_t i = 0; i < kRequests; ++i) {
      std::vector<std::string_view> argv = {row.name};
      const size_t size = 1 + random() % 12;
      while (argv.size() < size) argv.push_back(vocabulary[random() % vocabulary.size()]);
      ASSERT_NO_FATAL_FAILURE(ExpectLikeTheModel(row, argv));
    }
  }
}

const Command& RowOf(std::string_view name, const std::vector<Command>& rows) {
  const auto found = std::ranges::find(rows, name, &Command::name);
  EXPECT_NE(found, rows.end()) << name;
  return *found;
}

TEST(KeyFinder, ZAddReadsItsKeyOnlyWithTheOptionGet) {
  const std::vector<Command> rows = AllRows();
  const Command& row = RowOf("zadd", rows);
  const auto reads = [&](std::string_view words) {
    const std::string request = "zadd k " + std::string(words);
    const std::vector<std::string_view> argv = Split(request, ' ');
    return KeyUses(row, argv).At(1).Reads();
  };
  for (const std::string_view words :
       {"get 1 a", "XX GET 1 a 2 b", "ifeq 1 get 2 a", "IFEQ 1/2 GET 2/1 a", "EX 10 GET 1 a",
        "MAXLEN 5 KEEP LOWEST GET 1 a", "FORM TUPLE 32 31:DESC END GET 1/2 a",
        "FORM HALFLIFE 60 GET 1 a", "FORM INT64 GET 1 a"}) {
    EXPECT_TRUE(reads(words)) << words;
  }
  for (const std::string_view words : {"1 get", "CH 1 a 2 GET", "1/2 get", "EX 10 1 get",
                                       "FORM TUPLE 32 32 END 1/2 get", "inf get EX 10"}) {
    EXPECT_FALSE(reads(words)) << words;
  }
}

TEST(KeyFinder, SpecsOfEveryRowNeedNoAllocation) {
  for (const Command& row : AllRows()) EXPECT_LE(KeySpecsOf(row).size(), 4u) << row.name;
}

}  // namespace
}  // namespace zsetd
