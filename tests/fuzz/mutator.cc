#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <iterator>

namespace zsetd {
namespace {

constexpr size_t kLongestPiece = 60;    // steps of one script
constexpr size_t kLongestScript = 150;  // longer ones would reduce the number of runs

}  // namespace

void Mutator::Mutate(FuzzScript& script) {
  if (script.size() > kLongestScript) script = Piece(script);
  const uint64_t most = rng_.Below(2) == 0 ? 4 : 1 + script.size() / 2;
  for (uint64_t changes = 1 + rng_.Below(most); changes > 0; --changes) Change(script);
}

FuzzScript Mutator::Cross(const FuzzScript& one, const FuzzScript& other) {
  FuzzScript script = Piece(one);
  const FuzzScript piece = Piece(other);
  const size_t at = rng_.Below(2) == 0 ? script.size() : rng_.Below(script.size() + 1);
  script.insert(script.begin() + at, piece.begin(), piece.end());
  return script;
}

FuzzScript Mutator::Piece(const FuzzScript& script) {
  if (script.empty()) return {};
  const size_t first = rng_.Below(2) == 0 ? 0 : rng_.Below(script.size());
  const size_t count = std::min(script.size() - first, 1 + rng_.Below(kLongestPiece));
  return FuzzScript(script.begin() + first, script.begin() + first + count);
}

FuzzStep Mutator::NewStep() {
  if (rng_.Below(6) == 0) return {.time = Millis(rng_.Below(5'000))};
  if (rng_.Below(12) == 0) return {.client = AnyClient()};  // disconnects
  return {.client = AnyClient(), .words = vocabulary_.AnyRequest(rng_)};
}

// Usually once; sometimes often enough for a long queue or many watches.
size_t Mutator::Repetitions() { return rng_.Below(8) == 0 ? 1 + rng_.Below(kLongestPiece) : 1; }

std::string Mutator::AnyWord(const FuzzScript& script) {
  if (rng_.Below(2) == 0) return vocabulary_.AnyWord(rng_);
  const FuzzStep& step = script[rng_.Below(script.size())];
  return step.IsRequest() ? step.words[rng_.Below(step.words.size())] : "k";
}

void Mutator::Change(FuzzScript& script) {
  const size_t at = rng_.Below(script.size() + 1);
  if (at == script.size()) return script.push_back(NewStep());
  switch (rng_.Below(12)) {
    case 0:
      return void(script.insert(script.begin() + at, NewStep()));
    case 1:
      return void(script.insert(script.begin() + at, Repetitions(), FuzzStep(script[at])));
    case 2:
      return std::swap(script[at], script[rng_.Below(script.size())]);
    case 3:
      return void(script.erase(script.begin() + at));
    default:
      ChangeStep(script, script[at]);
  }
}

void Mutator::ChangeStep(FuzzScript& script, FuzzStep& step) {
  if (step.client.empty()) return void(step.time = Millis(rng_.Below(5'000)));
  const uint64_t kind = rng_.Below(16);
  if (kind == 0) return void(step.client = AnyClient());
  if (kind == 1) return Break(step);
  step.IsRequest() ? ChangeRequest(script, step.words) : change_bytes_(step.bytes);
}

void Mutator::ChangeRequest(const FuzzScript& script, std::vector<std::string>& words) {
  const size_t at = rng_.Below(words.size());
  switch (rng_.Below(8)) {
    case 0:
      return void(words.insert(words.begin() + at + 1, AnyWord(script)));
    case 1:
      return void(words.insert(words.begin() + at, std::string(words[at])));
    case 2:
      if (words.size() > 1) words.erase(words.begin() + at);
      return;
    case 3:
      return std::swap(words[at], words[rng_.Below(words.size())]);
    case 4:
      return void(words[0] = vocabulary_.AnyRequest(rng_)[0]);
    case 5:
      return change_bytes_(words[at]);
    default:
      if (at > 0 || rng_.Below(10) == 0) words[at] = AnyWord(script);
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
