#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// The payload of DUMP and RESTORE: a value in the RDB format, the format's version, and a checksum
// of both.
//
//   [ type and value | version:2 | crc64:8 ]

// Appends version and checksum to the value.
void SealPayload(std::string& value, uint16_t version = kRdbVersionWritten);

// The type and value of a payload; nullopt if the checksum is wrong or the version too new.
std::optional<std::string_view> OpenPayload(std::string_view payload);

// The version of the format of a payload that OpenPayload() accepts.
uint16_t VersionOfPayload(std::string_view payload);

}  // namespace zsetd
