#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zsetd {

// What DUMP gives and RESTORE takes: a value in Redis's format, the version of that, and a checksum
// of both.
//
//   [ type and value | version:2 | crc64:8 ]

// Puts version and checksum behind the value.
void SealPayload(std::string& value);

// The type and value of a payload; nothing if the checksum is wrong or the version too new.
std::optional<std::string_view> OpenPayload(std::string_view payload);

}  // namespace zsetd
