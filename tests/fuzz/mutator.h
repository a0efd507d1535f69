#pragma once

#include <string>
#include <vector>

#include "core/rng.h"
#include "tests/fuzz/script.h"

namespace zsetd {

// Makes new scripts of old ones. It knows what a request is: most of what it makes still parses, so
// that commands see it; a little does not, so that the parser does.
class Mutator {
 public:
  // `scripts` outlives the mutator and is not empty.
  Mutator(const std::vector<Script>& scripts, Rng& rng) : scripts_(scripts), rng_(rng) {}

  Script Make();

 private:
  const Script& AnyScript() { return scripts_[rng_.Below(scripts_.size())]; }
  FuzzStep AnyStep();
  std::string AnyWord();
  Script Piece();
  void Change(Script& script);
  void ChangeRequest(std::vector<std::string>& words);
  void ChangeWord(std::string& word);
  void Break(FuzzStep& step);

  const std::vector<Script>& scripts_;
  Rng& rng_;
};

}  // namespace zsetd
