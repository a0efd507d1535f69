#pragma once

#include <string_view>

namespace zsetd {

// The errors of zset-refuse-inexact-integers.
inline constexpr std::string_view kInexactScore =
    "ERR score is an integer that a double cannot hold exactly (zset-refuse-inexact-integers)";
inline constexpr std::string_view kInexactSum =
    "ERR resulting score is an integer that a double cannot hold exactly "
    "(zset-refuse-inexact-integers)";

// Whether the text is a decimal integer, with zeros behind a point or without, that is not the
// number it was parsed as. O(length).
bool IsInexactInteger(std::string_view text, double parsed);

// Whether both are integers whose sum is one that a double cannot hold.
bool IsInexactSum(double a, double b);

}  // namespace zsetd
