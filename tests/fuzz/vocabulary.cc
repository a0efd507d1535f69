#include "tests/fuzz/vocabulary.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "server/commands/all_commands.h"

namespace zsetd {
namespace {

// Limits of numbers, ranges and patterns, and a few keys. Large negative numbers are counts of
// random elements, which are never all sent.
std::vector<std::string> Edges() {
  return {"",
          "0",
          "-0",
          "1",
          "-1",
          "2",
          "-100",
          "-5000",
          "-9223372036854775807",
          "1.5",
          "255",
          "256",
          "32768",
          "65536",
          "2147483647",
          "2147483648",
          "4294967295",
          "4294967296",
          "9223372036854775807",
          "-9223372036854775808",
          "9223372036854775808",
          "18446744073709551616",
          "nan",
          "inf",
          "-inf",
          "(inf",
          "now",
          "(nowms",
          "1e308",
          "5e-324",
          "1e400",
          "(1",
          "[a",
          "(a",
          "+",
          "-",
          "*",
          "?",
          "[",
          "[a-",
          "\\",
          "a*a*a*a*b",
          "*?[^b]?[a-z]?b*",
          "k",
          "l",
          "z",
          "none",
          "#",
          "u8",
          "i64",
          std::string(1, '\0'),
          "HYLL" + ("\1" + std::string(10, '\0')) + "\x80\x7f\xff",          // a HyperLogLog
          "HYLL" + ("\1" + std::string(10, '\0')) + "\x80\x83\x3f\x7f\xe0",  // a damaged one
          "0-0",                                                             // IDs of streams
          "1-1",
          "5-*",
          "(1-1",
          "18446744073709551615-18446744073709551615",
          "$",
          ">",
          "g",  // a group
          "IDMP-DURATION",
          "IDMP-MAXSIZE",
          "\r\n",
          std::string(64, 'x'),
          std::string(300, 'y')};
}

std::vector<std::string> Split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Adds the words in capitals of a usage, such as "key min max [WITHSCORES] [LIMIT offset count]".
void AddOptions(std::string_view usage, std::set<std::string>& options) {
  for (std::string& word : Split(usage, " []|<>.")) {
    const bool in_capitals = std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (in_capitals) options.insert(std::move(word));
  }
}

}  // namespace

Vocabulary::Vocabulary() : words_(Edges()) {
  std::set<std::string> options;
  for (const std::span<const Command> family : AllCommands()) {
    for (const Command& command : family) {
      AddOptions(command.usage, options);
      if (command.run == nullptr) continue;
      const auto least_words = static_cast<size_t>(std::abs(command.arity));
      shapes_.push_back({Split(command.name, "|"), least_words});
    }
  }
  std::ranges::copy(options, std::back_inserter(words_));
}

std::vector<std::string> Vocabulary::AnyRequest(Rng& rng) const {
  const Shape& shape = shapes_[rng.Below(shapes_.size())];
  std::vector<std::string> words = shape.name;
  while (words.size() < shape.least_words) words.push_back(AnyWord(rng));
  return words;
}

}  // namespace zsetd
