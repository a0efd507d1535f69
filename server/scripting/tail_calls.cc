#include "server/scripting/tail_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

bool IsLetter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}
bool IsWord(char byte) { return IsLetter(byte) || (byte >= '0' && byte <= '9'); }
bool IsBlank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Steps over the tokens of a chunk.
class Tokens {
 public:
  explicit Tokens(std::string_view code) : code_(code) {}

  // Returns the next token; empty at the end. A token is a word of letters and digits, a string
  // with its quotes or brackets, or one other byte. Comments are skipped.
  std::string_view Next() {
    SkipBlanks();
    if (at_ >= code_.size()) return {};
    const size_t start = at_;
    const char byte = code_[at_];
    if (IsWord(byte)) {
      while (at_ < code_.size() && IsWord(code_[at_])) ++at_;
    } else if (byte == '"' || byte == '\'') {
      SkipString(byte);
    } else if (!SkipLongBracket()) {
      ++at_;
    }
    return code_.substr(start, at_ - start);
  }

  size_t at() const { return at_; }  // the index after the last returned token

 private:
  void SkipBlanks() {
    while (at_ < code_.size()) {
      if (IsBlank(code_[at_])) {
        ++at_;
      } else if (code_.substr(at_).starts_with("--")) {
        at_ += 2;
        if (!SkipLongBracket()) SkipTo('\n');
      } else {
        return;
      }
    }
  }

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

// The functions that return one value, or only none, which is nil as an operand. Not
// cjson.encode_sparse_array: it returns three.
constexpr std::array<std::string_view, 43> kFunctions = {
    "redis.call",
    "redis.pcall",
    "redis.error_reply",
    "redis.status_reply",
    "redis.sha1hex",
    "redis.log",
    "redis.setresp",
    "redis.set_repl",
    "redis.replicate_commands",
    "redis.acl_check_cmd",
    "redis.breakpoint",
    "redis.debug",
    "redis.register_function",
    "cjson.encode",
    "cjson.decode",
    "cjson.encode_keep_buffer",
    "cjson.encode_max_depth",
    "cjson.decode_max_depth",
    "cjson.encode_number_precision",
    "cjson.encode_invalid_numbers",
    "cjson.decode_invalid_numbers",
    "cjson.decode_array_with_array_mt",
    "cjson.new",
    "bit.tobit",
    "bit.bnot",
    "bit.band",
    "bit.bor",
    "bit.bxor",
    "bit.lshift",
    "bit.rshift",
    "bit.arshift",
    "bit.rol",
    "bit.ror",
    "bit.bswap",
    "bit.tohex",
    "error",
    "tonumber",
    "cmsgpack.pack",
    "struct.pack",
    "struct.size",
    "table.concat",
    "string.rep",
    "string.format",
};

// The globals that hold these functions: redis.call is in redis.
constexpr std::array<std::string_view, 9> kGlobals = {
    "redis", "cjson", "bit", "error", "tonumber", "cmsgpack", "struct", "table", "string"};

// Returns the index of the global; the number of globals for another word.
size_t GlobalIndex(std::string_view word) {
  return static_cast<size_t>(std::ranges::find(kGlobals, word) - kGlobals.begin());
}

// A call of one of these functions after `return`.
struct KnownCall {
  size_t at;
  size_t global;
  size_t depth;  // the number of parentheses around it
};

// Finds the calls in one pass over the tokens.
class CallFinder {
 public:
  explicit CallFinder(std::string_view code) : code_(code), tokens_(code) {}

  // Returns the indexes of the calls, in ascending order.
  std::vector<size_t> Find() {
    while (Step()) {
    }
    std::erase_if(ended_, [this](const KnownCall& call) { return is_rebound_[call.global]; });
    std::vector<size_t> places;
    places.reserve(ended_.size());
    for (const KnownCall& call : ended_) places.push_back(call.at);
    std::ranges::sort(places);
    return places;
  }

 private:
  bool Step() {
    const std::string_view token = tokens_.Next();
    NoteName(token);
    EndCall(token);
    if (token.empty()) return false;
    if (token == "(") {
      ++depth_;
    } else if (token == ")") {
      --depth_;
    } else if (token == "return") {
      BeginCall();
    }
    before_ = std::exchange(last_, token);
    return true;
  }

  // If the last token is a global's name, checks that it is used as such. Anything else may be a
  // local variable or a parameter of that name, or an assignment.
  void NoteName(std::string_view next) {
    const size_t global = GlobalIndex(last_);
    if (global == kGlobals.size() || before_ == "." || before_ == ":") return;
    const bool is_used = (next == "." || next == "(") && before_ != "function";
    if (!is_used) is_rebound_[global] = true;
  }

  void BeginCall() {
    const size_t at = code_.find_first_not_of(" \t", tokens_.at());
    if (at == std::string_view::npos || at == tokens_.at()) return;
    const std::string_view rest = code_.substr(at);
    const bool is_known = std::ranges::any_of(kFunctions, [&](std::string_view name) {
      return rest.starts_with(name) && rest.substr(name.size()).starts_with('(');
    });
    if (!is_known) return;
    open_.push_back({at, GlobalIndex(rest.substr(0, rest.find_first_of(".("))), depth_});
  }

  // Ends the call if the last token was its closing parenthesis. If its result is called or
  // indexed in turn, as in string.rep(s, n):find(p), the value after `return` is another one.
  void EndCall(std::string_view next) {
    if (last_ != ")" || open_.empty() || open_.back().depth != depth_) return;
    constexpr std::string_view kContinuing = ".:([{\"'";
    if (next.empty() || kContinuing.find(next[0]) == std::string_view::npos) {
      ended_.push_back(open_.back());
    }
    open_.pop_back();
  }

  std::string_view code_;
  Tokens tokens_;
  std::string_view before_;  // the tokens before the current one
  std::string_view last_;
  size_t depth_ = 0;
  std::vector<KnownCall> open_;  // nested calls
  std::vector<KnownCall> ended_;
  std::array<bool, kGlobals.size()> is_rebound_{};
};

}  // namespace

std::string WithoutTailCalls(std::string_view code) {
  constexpr std::string_view kGuard = "nil or ";
  std::string changed;
  size_t copied = 0;
  for (const size_t call : CallFinder(code).Find()) {
    changed.append(code, copied, call - copied);
    changed += kGuard;
    copied = call;
  }
  changed.append(code, copied);
  return changed;
}

}  // namespace zsetd
