#pragma once

#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {

// Args that mean something to some command.
class Vocabulary {
 public:
  // Knows the names of all commands and the options that their usage tells.
  Vocabulary();

  // The edge of a range, a name of a key, an option.
  const std::string& AnyWord(Rng& rng) const { return words_[rng.Below(words_.size())]; }

  // A command's name, with its subcommand if it has one, and as many words as it asks for at least.
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
