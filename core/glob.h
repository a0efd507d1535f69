#pragma once

#include <string_view>

namespace zsetd {

// Does `text` match the pattern of Redis's kind: * ? [abc] [^a-z] and \ before a literal byte?
// An unclosed bracket ends at the end of the pattern, as there. Linear memory-free backtracking:
// O(pattern x text) at worst, never exponential in the number of stars.
bool GlobMatches(std::string_view pattern, std::string_view text);

// The same with ASCII letters of either case equal.
bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text);

}  // namespace zsetd
