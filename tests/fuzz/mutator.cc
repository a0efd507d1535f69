#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <iterator>

namespace zsetd {
namespace {

constexpr size_t kLongestPiece = 60;  // steps of one script
constexpr size_t kLongestScript = 200;

// Edges of numbers, ranges and names. Of the negative numbers none is so large that a command which
// takes it for a count would have to answer with so many elements.
const std::vector<std::string>& Edges() {
  static const std::vector<std::string> edges = {"",
                                                 "0",
                                                 "-0",
                                                 "1",
                                                 "-1",
                                                 "2",
                                                 "-100",
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
                                                 "k",
                                                 "z",
                                                 "none",
                                                 "WITHSCORES",
                                                 "LIMIT",
                                                 "COUNT",
                                                 "MATCH",
                                                 "NX",
                                                 "XX",
                                                 "GT",
                                                 "LT",
                                                 "CH",
                                                 "INCR",
                                                 "EX",
                                                 "PX",
                                                 "KEEPTTL",
                                                 "STORE",
                                                 "REV",
                                                 "BYSCORE",
                                                 "BYLEX",
                                                 "WEIGHTS",
                                                 "AGGREGATE",
                                                 "GET",
                                                 "BY",
                                                 std::string(1, '\0'),
                                                 "\r\n",
                                                 std::string(64, 'x'),
                                                 std::string(300, 'y'),
                                                 std::string(20'000, 'z')};
  return edges;
}

}  // namespace

Script Mutator::Make() {
  Script script = Piece();
  for (uint64_t pieces = rng_.Below(3); pieces > 0; --pieces)
    std::ranges::copy(Piece(), std::back_inserter(script));
  const uint64_t changes = 1 + rng_.Below(1 + script.size() / 2);
  for (uint64_t i = 0; i < changes; ++i) Change(script);
  if (script.size() > kLongestScript) script.resize(kLongestScript);
  return script;
}

Script Mutator::Piece() {
  const Script& script = AnyScript();
  const size_t first = rng_.Below(script.size());
  const size_t count = std::min(script.size() - first, 1 + rng_.Below(kLongestPiece));
  return Script(script.begin() + first, script.begin() + first + count);
}

FuzzStep Mutator::AnyStep() {
  const Script& script = AnyScript();
  return script[rng_.Below(script.size())];
}

std::string Mutator::AnyWord() {
  if (rng_.Below(2) == 0) return Edges()[rng_.Below(Edges().size())];
  const FuzzStep step = AnyStep();
  return step.IsRequest() ? step.words[rng_.Below(step.words.size())] : "k";
}

void Mutator::Change(Script& script) {
  const size_t at = rng_.Below(script.size());
  FuzzStep& step = script[at];
  switch (rng_.Below(12)) {
    case 0:
      return void(script.insert(script.begin() + at, AnyStep()));
    case 1:
      return void(script.insert(script.begin() + at, FuzzStep(step)));
    case 2:
      return std::swap(step, script[rng_.Below(script.size())]);
    case 3:
      if (!step.client.empty())
        step.client = std::string(1, static_cast<char>('a' + rng_.Below(4)));
      return;
    case 4:
      return void(script.insert(script.begin() + at, {.time = Millis(rng_.Below(5'000))}));
    case 5:
      return rng_.Below(4) == 0 && !step.client.empty() ? Break(step) : void();
    default:
      if (step.IsRequest()) ChangeRequest(step.words);
  }
}

void Mutator::ChangeRequest(std::vector<std::string>& words) {
  const size_t at = rng_.Below(words.size());
  switch (rng_.Below(8)) {
    case 0:
      return void(words.insert(words.begin() + at + 1, AnyWord()));
    case 1:
      return void(words.insert(words.begin() + at, std::string(words[at])));
    case 2:
      if (words.size() > 1) words.erase(words.begin() + at);
      return;
    case 3:
      return std::swap(words[at], words[rng_.Below(words.size())]);
    case 4:
      return ChangeWord(words[at]);
    case 5: {
      const FuzzStep other = AnyStep();
      if (other.IsRequest()) words[0] = other.words[0];
      return;
    }
    default:
      if (at > 0 || rng_.Below(10) == 0) words[at] = AnyWord();
  }
}

void Mutator::ChangeWord(std::string& word) {
  if (word.empty()) return word.push_back(static_cast<char>(rng_.Below(256)));
  const size_t at = rng_.Below(word.size());
  switch (rng_.Below(3)) {
    case 0:
      word[at] = static_cast<char>(word[at] ^ (1 << rng_.Below(8)));
      return;
    case 1:
      return word.resize(at);
    default:
      return void(word.insert(at, 1, static_cast<char>(rng_.Below(256))));
  }
}

void Mutator::Break(FuzzStep& step) {
  step.bytes = step.Sent();
  step.words.clear();
  if (step.bytes.empty()) return;
  const size_t at = rng_.Below(std::min<size_t>(step.bytes.size(), 40));
  if (rng_.Below(2) == 0) return step.bytes.resize(at);
  step.bytes[at] = "\r\n*$-09\0+ x"[rng_.Below(11)];
}

}  // namespace zsetd
