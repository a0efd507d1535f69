#pragma once

#include <string_view>

namespace zsetd {

// Returns whether `text` matches a pattern with Redis's syntax: * ? [abc] [^a-z] and \ before a
// literal byte. Results equal those of Redis 7 for malformed patterns too: an unclosed bracket ends
// with the pattern. Two cases differ. ** matches the empty text, like *. A run between two stars
// that has wildcards and more than 1,000 bytes never matches. O(pattern + text); a run between two
// stars with ? or [ takes O(256 x run + text x run / 64), for the part of the text in which it is
// searched.
bool GlobMatches(std::string_view pattern, std::string_view text);

// Like GlobMatches(), but ignores the case of ASCII letters.
bool GlobMatchesIgnoringCase(std::string_view pattern, std::string_view text);

}  // namespace zsetd
