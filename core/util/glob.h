#pragma once

#include <string_view>

namespace zsetd {

// Does `text` match a pattern of Redis's kind: * ? [abc] [^a-z] and \ before a literal byte? The
// answers are those of Redis 7 for broken patterns too: an unclosed bracket ends with the pattern.
// Two cases differ: ** matches the empty text as * does; and more than 1,000 bytes of pattern
// between two stars that are not plain bytes all match nowhere. O(pattern + text), but each run
// between two stars that has ? or [ in it takes O(256 x run + text x run / 64), for the part of the
// text that it is searched in.
bool GlobMatches(std::string_view pattern, std::string_view text);

// Like GlobMatches(), but ignores the case of ASCII letters.
bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text);

}  // namespace zsetd
