// Whole sessions under libFuzzer, sent to an engine in this process. libFuzzer keeps a script that
// reaches new code, or new comparisons of words, and continues from there. Inputs and kept scripts
// are transcripts (tests/transcripts/README.md).

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/fuzz_run.h"
#include "tests/fuzz/mutator.h"

// From libFuzzer: changes the first `size` bytes in place, and may use up to `capacity` bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);

namespace zsetd {
namespace {

constexpr size_t kRoomToGrow = 16;  // the most that one change lengthens a word

std::string_view TextIn(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Uses libFuzzer's mutations, which include words that the engine has compared.
void ChangeWord(std::string& word) {
  const size_t size = word.size();
  word.resize(size + kRoomToGrow);
  word.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(word.data()), size, word.size()));
}

// Writes the script as a text of at most `capacity` bytes; steps that do not fit are omitted.
size_t Write(FuzzScript script, uint8_t* data, size_t capacity) {
  std::string text = FuzzScriptText(script);
  while (text.size() > capacity) {
    script.resize(script.size() - 1 - script.size() / 8);
    text = FuzzScriptText(script);
  }
  std::ranges::copy(text, data);
  return text.size();
}

Mutator MakeMutator(Rng& rng) {
  static const Vocabulary vocabulary;
  static const Mutator::ChangeBytes change_word = ChangeWord;
  return Mutator(vocabulary, change_word, rng);
}

}  // namespace
}  // namespace zsetd

extern "C" {

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const zsetd::FuzzScript script = zsetd::ReadFuzzScript(zsetd::TextIn(data, size));
  const std::string wrong = zsetd::FuzzRun().Play(script);
  if (wrong.empty()) return 0;
  std::cerr << wrong << "\n\nthe script:\n\n" << zsetd::FuzzScriptText(script);
  std::abort();
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity, unsigned seed) {
  zsetd::Rng rng(seed);
  zsetd::FuzzScript script = zsetd::ReadFuzzScript(zsetd::TextIn(data, size));
  zsetd::MakeMutator(rng).Mutate(script);
  return zsetd::Write(std::move(script), data, capacity);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other,
                                 size_t other_size, uint8_t* out, size_t capacity, unsigned seed) {
  zsetd::Rng rng(seed);
  zsetd::FuzzScript script =
      zsetd::MakeMutator(rng).Cross(zsetd::ReadFuzzScript(zsetd::TextIn(one, one_size)),
                                    zsetd::ReadFuzzScript(zsetd::TextIn(other, other_size)));
  return zsetd::Write(std::move(script), out, capacity);
}
}
