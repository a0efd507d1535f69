#pragma once

#include <string_view>

namespace zsetd {

// Does `text` match a pattern of Redis's kind: * ? [abc] [^a-z] and \ before a literal byte? The
// answers are those of Redis 7 for broken patterns too: an unclosed bracket ends with the pattern.
// One case is more regular here: ** matches the empty text as * does. O(pattern x text) at worst,
// however many stars there are.
bool GlobMatches(std::string_view pattern, std::string_view text);

// The same with ASCII letters of either case equal.
bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text);

}  // namespace zsetd
