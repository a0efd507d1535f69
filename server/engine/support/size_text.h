#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// A number of bytes in the syntax of redis.conf: digits, then one of b, k, kb, m, mb, g, gb in any
// case or nothing; k is 1000 and kb is 1024. What is too large for 64 bits is the largest number
// there is.
std::optional<uint64_t> ParseSize(std::string_view text);

// For people, as INFO's fields that end in _human: "512B", "1.50M".
std::string SizeText(uint64_t bytes);

}  // namespace zsetd
