#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "tests/fuzz/fuzz_script.h"
#include "tests/fuzz/vocabulary.h"

namespace zsetd {

// Makes new scripts from old ones. It knows the structure of requests. Most of its output still
// parses and tests commands; a small part does not parse and tests the parser.
class Mutator {
 public:
  using ChangeBytes = std::function<void(std::string&)>;

  // `change_bytes` changes a word of unknown meaning. All arguments must outlive the mutator.
  Mutator(const Vocabulary& vocabulary, const ChangeBytes& change_bytes, Rng& rng)
      : vocabulary_(vocabulary), change_bytes_(change_bytes), rng_(rng) {}

  // Makes a few changes.
  void Mutate(FuzzScript& script);

  // Combines pieces of both, either one after the other or one inside the other.
  FuzzScript Cross(const FuzzScript& one, const FuzzScript& other);

 private:
  void Change(FuzzScript& script);
  void ChangeStep(FuzzScript& script, FuzzStep& step);
  void ChangeRequest(const FuzzScript& script, std::vector<std::string>& words);
  void Break(FuzzStep& step);
  FuzzScript Piece(const FuzzScript& script);
  size_t Repetitions();
  FuzzStep NewStep();
  std::string AnyWord(const FuzzScript& script);
  std::string AnyClient() { return std::string(1, static_cast<char>('a' + rng_.Below(4))); }

  const Vocabulary& vocabulary_;
  const ChangeBytes& change_bytes_;
  Rng& rng_;
};

}  // namespace zsetd
