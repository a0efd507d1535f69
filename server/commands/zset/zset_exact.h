#pragma once

#include <string_view>

namespace zsetd {

// The errors of zset-refuse-inexact-integers.
inline constexpr std::string_view kInexactScore =
    "ERR score is an integer that a double cannot hold exactly (zset-refuse-inexact-integers)";
inline constexpr std::string_view kInexactSum =
    "ERR resulting score is an integer that a double cannot hold exactly "
    "(zset-refuse-inexact-integers)";

inline constexpr double kFirstInexact = 9007199254740992;  // 2^53: the next integer is no double

// Whether the text is a decimal integer that differs from `parsed`, the double it was parsed as.
// Zeros after a decimal point are allowed. O(length).
bool IsInexactInteger(std::string_view text, double parsed);

// Whether both are integers and a double cannot represent their sum.
bool IsInexactSum(double a, double b);

}  // namespace zsetd
