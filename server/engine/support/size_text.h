#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// A number of bytes in the syntax of redis.conf: digits, then one of b, k, kb, m, mb, g, gb in any
// case or nothing; k is 1000 and kb is 1024. A number too large for 64 bits becomes the largest
// one.
std::optional<uint64_t> ParseSize(std::string_view text);

// For people, as INFO's fields that end in _human: "512B", "1.50M".
std::string SizeText(uint64_t bytes);

}  // namespace zsetd
