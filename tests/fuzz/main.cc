// Plays scripts made from transcripts until something is wrong, or the time is up:
//
//   session_fuzzer [--seconds N] [--seed S] [--first N] [--keep FILE] TRANSCRIPT...
//
// Script number N is always the same for a seed, so that --first N repeats a find. --keep writes
// each script to a file before it is played: there it is found if it ends the process.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/script_run.h"

namespace zsetd {
namespace {

struct Options {
  int seconds = 10;
  uint64_t seed = 1;
  uint64_t first = 0;
  std::string keep;
  std::vector<std::string> files;
};

Options ReadOptions(const std::vector<std::string>& words) {
  Options options;
  for (size_t at = 0; at < words.size(); ++at) {
    const bool has_value = at + 1 < words.size();
    if (words[at] == "--seconds" && has_value) {
      options.seconds = std::atoi(words[++at].c_str());
    } else if (words[at] == "--seed" && has_value) {
      options.seed = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (words[at] == "--first" && has_value) {
      options.first = std::strtoull(words[++at].c_str(), nullptr, 10);
    } else if (words[at] == "--keep" && has_value) {
      options.keep = words[++at];
    } else {
      options.files.push_back(words[at]);
    }
  }
  return options;
}

std::vector<Script> ReadScripts(const std::vector<std::string>& files) {
  std::vector<Script> scripts;
  for (const std::string& file : files) {
    Script script = ReadScript(file);
    if (!script.empty()) scripts.push_back(std::move(script));
  }
  return scripts;
}

// Whether nothing was wrong.
bool Try(const Script& script, const Options& options, uint64_t number) {
  if (!options.keep.empty()) std::ofstream(options.keep) << ScriptText(script);
  const std::string wrong = ScriptRun().Play(script);
  if (wrong.empty()) return true;
  std::cerr << "script " << number << " of seed " << options.seed << ": " << wrong
            << "\n\nthe script:\n\n"
            << ScriptText(script);
  return false;
}

int Fuzz(const Options& options) {
  const std::vector<Script> scripts = ReadScripts(options.files);
  if (scripts.empty()) {
    std::cerr << "usage: session_fuzzer [--seconds N] [--seed S] [--first N] [--keep FILE] "
                 "TRANSCRIPT...\n";
    return 2;
  }
  for (const Script& script : scripts) {
    if (!Try(script, options, 0)) return EXIT_FAILURE;
  }
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  uint64_t number = options.first;
  for (; Clock::now() < end; ++number) {
    Rng rng(options.seed * 1'000'000'007 + number);
    if (!Try(Mutator(scripts, rng).Make(), options, number)) return EXIT_FAILURE;
  }
  std::cout << number - options.first << " scripts of seed " << options.seed << '\n';
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace zsetd

int main(int count, char** words) {
  return zsetd::Fuzz(zsetd::ReadOptions({words + 1, words + count}));
}
