#include "protocol/rdb/dump_payload.h"

#include "protocol/rdb/append_number.h"
#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/crc64.h"
#include "protocol/rdb/rdb_format.h"

namespace zsetd {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;

}  // namespace

void SealPayload(std::string& value, uint16_t version) {
  AppendLittleEndian(version, kVersionBytes, value);
  AppendLittleEndian(Crc64(value), kChecksumBytes, value);
}

std::optional<std::string_view> OpenPayload(std::string_view payload) {
  if (payload.size() < kVersionBytes + kChecksumBytes) return std::nullopt;
  ByteCursor cursor(payload);
  const auto value = cursor.Take(payload.size() - kVersionBytes - kChecksumBytes);
  const uint64_t version = cursor.Unsigned(kVersionBytes);
  const uint64_t checksum = cursor.Unsigned(kChecksumBytes);
  if (version > kNewestRdbVersionRead && version != kValkeyRdbVersion) return std::nullopt;
  if (checksum != Crc64(payload.substr(0, payload.size() - kChecksumBytes))) return std::nullopt;
  return value;
}

uint16_t VersionOfPayload(std::string_view payload) {
  ByteCursor cursor(payload.substr(payload.size() - kVersionBytes - kChecksumBytes));
  return static_cast<uint16_t>(cursor.Unsigned(kVersionBytes));
}

}  // namespace zsetd
