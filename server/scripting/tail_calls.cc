#include "server/scripting/tail_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace zsetd {
namespace {

bool IsLetter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
bool IsWord(char byte) { return IsLetter(byte) || (byte >= '0' && byte <= '9'); }

// Steps over the tokens of a chunk.
class Tokens {
 public:
  explicit Tokens(std::string_view code) : code_(code) {}

  // Returns the next word of letters and digits; empty at the end. Skips everything else.
  std::string_view NextWord() {
    while (at_ < code_.size()) {
      const char byte = code_[at_];
      if (IsWord(byte)) {
        const size_t start = at_;
        while (at_ < code_.size() && IsWord(code_[at_])) ++at_;
        return code_.substr(start, at_ - start);
      }
      if (code_.substr(at_).starts_with("--")) {
        at_ += 2;
        if (!SkipLongBracket()) SkipTo('\n');
      } else if (byte == '"' || byte == '\'') {
        SkipString(byte);
      } else if (byte != '[' || !SkipLongBracket()) {
        ++at_;
      }
    }
    return {};
  }

  size_t at() const { return at_; }  // the index after the last returned word

 private:
  void SkipTo(char end) { at_ = std::min(code_.find(end, at_), code_.size()); }

  void SkipString(char quote) {
    for (++at_; at_ < code_.size() && code_[at_] != quote; ++at_) {
      if (code_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, code_.size());
  }

  // Skips a long bracket that begins here, [[...]] or [==[...]==]. Returns false if none begins
  // here.
  bool SkipLongBracket() {
    if (at_ >= code_.size() || code_[at_] != '[') return false;
    size_t inner = at_ + 1;
    while (inner < code_.size() && code_[inner] == '=') ++inner;
    if (inner >= code_.size() || code_[inner] != '[') return false;
    const std::string close = "]" + std::string(inner - at_ - 1, '=') + "]";
    const size_t end = code_.find(close, inner);
    at_ = end == std::string_view::npos ? code_.size() : end + close.size();
    return true;
  }

  std::string_view code_;
  size_t at_ = 0;
};

// Whether the text begins with a call of a function that returns at most one value.
bool StartsWithKnownCall(std::string_view text) {
  constexpr std::array<std::string_view, 3> kLibraries = {"redis.", "cjson.", "bit."};
  constexpr std::array<std::string_view, 8> kFunctions = {
      "error(",       "tonumber(",     "cmsgpack.pack(", "struct.pack(",
      "struct.size(", "table.concat(", "string.rep(",    "string.format("};
  const auto begins = [&](std::string_view prefix) { return text.starts_with(prefix); };
  return std::ranges::any_of(kLibraries, begins) || std::ranges::any_of(kFunctions, begins);
}

}  // namespace

std::string WithoutTailCalls(std::string_view code) {
  constexpr std::string_view kGuard = "nil or ";
  std::string changed;
  size_t copied = 0;
  Tokens tokens(code);
  for (std::string_view word = tokens.NextWord(); !word.empty(); word = tokens.NextWord()) {
    if (word != "return") continue;
    const size_t call = code.find_first_not_of(" \t", tokens.at());
    if (call == std::string_view::npos || call == tokens.at()) continue;
    if (!StartsWithKnownCall(code.substr(call))) continue;
    changed.append(code, copied, call - copied);
    changed += kGuard;
    copied = call;
  }
  changed.append(code, copied);
  return changed;
}

}  // namespace zsetd
