#pragma once

#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {

// Words that have a meaning to some command.
class Vocabulary {
 public:
  // Collects the names of all commands and the options in their usage.
  Vocabulary();

  // Returns a limit of a range, a name of a key, or an option.
  const std::string& AnyWord(Rng& rng) const { return words_[rng.Below(words_.size())]; }

  // Returns a command's name, with its subcommand if any, and at least the arguments that it
  // requires.
  std::vector<std::string> AnyRequest(Rng& rng) const;

 private:
  struct Shape {
    std::vector<std::string> name;
    size_t least_words;
  };

  std::vector<std::string> words_;
  std::vector<Shape> shapes_;
};

}  // namespace zsetd
