#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// The words of a line as redis-cli and redis.conf quote them: "..." with \n \r \t \b \a \xHH and
// \ before any byte, '...' with \' alone, a closing quote followed by a space or the end.
// Nothing if a quote is unbalanced.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// The word as it stands in such a line, in quotes if it needs them; SplitWords() gives it back.
std::string QuoteWord(std::string_view word);

}  // namespace zsetd
