#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/util/rng.h"
#include "tests/fuzz/fuzz_script.h"
#include "tests/fuzz/vocabulary.h"

namespace zsetd {

// Makes new scripts of old ones. It knows what a request is: most of what it makes still parses, so
// that commands see it; a little does not, so that the parser does.
class Mutator {
 public:
  using ChangeBytes = std::function<void(std::string&)>;

  // `change_bytes` changes a word that nothing is known of. All is used as long as the mutator.
  Mutator(const Vocabulary& vocabulary, const ChangeBytes& change_bytes, Rng& rng)
      : vocabulary_(vocabulary), change_bytes_(change_bytes), rng_(rng) {}

  // Changes a few things.
  void Mutate(FuzzScript& script);

  // Pieces of both, one behind the other or one within the other.
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
