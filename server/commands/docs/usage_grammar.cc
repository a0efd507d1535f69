#include "server/commands/docs/usage_grammar.h"

#include <algorithm>
#include <utility>

#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

using Type = Argument::Type;

bool IsToken(std::string_view word) {
  return std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

// Reads a usage from left to right. After an error, ok() stays false.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) { SkipSpaces(); }

  // Reads up to the end, or to a | ] > or ... of the enclosing group.
  Arguments Sequence();

  bool AtEnd() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  bool At(std::string_view sign) const { return rest_.starts_with(sign); }
  bool Take(std::string_view sign);
  std::string_view Word();
  bool AtPlainWord() const { return !AtEnd() && rest_.front() >= 'a' && rest_.front() <= 'z'; }
  bool AtToken() const { return !AtEnd() && rest_.front() >= 'A' && rest_.front() <= 'Z'; }
  void SkipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  void AddNext(Arguments& arguments);
  Argument Alternatives(std::string_view end);
  Argument TokenAndMore(std::string_view token);

  // Takes "[a ...]" if it repeats the last arguments.
  bool TakeRepetition(Arguments& arguments);

  std::string_view rest_;
  bool ok_ = true;
};

bool Reader::Take(std::string_view sign) {
  if (!At(sign)) return false;
  rest_.remove_prefix(sign.size());
  SkipSpaces();
  return true;
}

std::string_view Reader::Word() {
  const size_t size = std::min(rest_.find_first_of(" []<>|"), rest_.size());
  const std::string_view word = rest_.substr(0, size);
  rest_.remove_prefix(size);
  SkipSpaces();
  ok_ = ok_ && !word.empty();
  return word;
}

Arguments Reader::Sequence() {
  Arguments arguments;
  while (ok_ && !AtEnd() && !At("|") && !At("]") && !At(">") && !At("...")) AddNext(arguments);
  ok_ = ok_ && !arguments.empty();
  return arguments;
}

void Reader::AddNext(Arguments& arguments) {
  if (TakeRepetition(arguments)) return;
  if (Take("[")) {
    arguments.push_back(Alternatives("]"));
    arguments.back().optional = true;
  } else if (Take("<")) {
    arguments.push_back(Alternatives(">"));
  } else if (const std::string_view word = Word(); IsToken(word)) {
    arguments.push_back(TokenAndMore(word));
  } else {
    arguments.push_back({.name = std::string(word), .type = UsualTypeOf(word)});
  }
}

Argument Reader::Alternatives(std::string_view end) {
  Arguments alternatives;
  do {
    alternatives.push_back(Grouped(Type::kBlock, Sequence()));
  } while (ok_ && Take("|"));
  ok_ = ok_ && Take(end);
  return Grouped(Type::kOneOf, std::move(alternatives));
}

// After a token there is one choice, or all plain words up to the next token. Two adjacent tokens
// are an error: a choice without its <>.
Argument Reader::TokenAndMore(std::string_view token) {
  Arguments more;
  if (Take("<")) {
    more.push_back(Alternatives(">"));
    more.back().name = LowerCase(token);
  }
  while (AtPlainWord()) {
    AddNext(more);
    TakeRepetition(more);
  }
  if (more.empty()) {
    ok_ = ok_ && !AtToken();
    const bool is_empty_word = token == "\"\"";
    more.push_back(
        {.name = is_empty_word ? "empty_string" : LowerCase(token), .type = Type::kPureToken});
  }
  Argument whole = Grouped(Type::kBlock, std::move(more));
  whole.token = token;
  return whole;
}

bool Reader::TakeRepetition(Arguments& arguments) {
  Reader ahead = *this;
  if (!ahead.Take("[")) return false;
  const Arguments repeated = ahead.Sequence();
  if (!ahead.Take("...") || !ahead.Take("]") || !Repeat(arguments, repeated)) return false;
  *this = ahead;
  return true;
}

}  // namespace

std::optional<std::vector<Argument>> ParseUsage(std::string_view usage) {
  if (usage.empty()) return Arguments();
  Reader reader(usage);
  Arguments arguments = reader.Sequence();
  if (!reader.ok() || !reader.AtEnd()) return std::nullopt;
  return arguments;
}

}  // namespace zsetd
