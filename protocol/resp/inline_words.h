#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// Splits a line into arguments, which may be quoted as in redis-cli and redis.conf. "..." may
// contain
//
// \r \t \b \a \xHH and \ before any byte; '...' may contain \' only. A closing quote must be
// followed by a space or the end. Nullopt if a quote is unbalanced.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// The argument as written in such a line, quoted if necessary; SplitWords() reads it back.
std::string QuoteWord(std::string_view word);

}  // namespace zsetd
