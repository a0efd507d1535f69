#include "protocol/rdb/rdb_file.h"

#include <bit>

#include "protocol/rdb/append_number.h"

namespace zsetd {
namespace {

constexpr std::string_view kRedisMagic = "REDIS";    // and 4 digits
constexpr std::string_view kValkeyMagic = "VALKEY";  // and 3

std::optional<uint16_t> ParseDigits(std::string_view digits) {
  uint16_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = static_cast<uint16_t>(number * 10 + (digit - '0'));
  }
  return number;
}

}  // namespace

std::optional<RdbVersion> ParseRdbMagic(std::string_view bytes) {
  if (bytes.size() != kRdbMagicBytes) return std::nullopt;
  const bool is_valkey = bytes.starts_with(kValkeyMagic);
  if (!is_valkey && !bytes.starts_with(kRedisMagic)) return std::nullopt;
  const auto number = ParseDigits(bytes.substr((is_valkey ? kValkeyMagic : kRedisMagic).size()));
  if (!number) return std::nullopt;
  return RdbVersion{.number = *number, .is_valkey = is_valkey};
}

bool CanRead(const RdbVersion& version) {
  if (version.is_valkey) return version.number == kValkeyRdbVersion;
  return version.number >= 1 && version.number <= kNewestRdbVersionRead;
}

void RdbFileWriter::Magic(uint16_t version) {
  std::string digits = std::to_string(version);
  digits.insert(0, kRdbMagicBytes - kRedisMagic.size() - digits.size(), '0');
  out_ += kRedisMagic;
  out_ += digits;
}

void RdbFileWriter::Aux(std::string_view name, std::string_view value) {
  Opcode(RdbOpcode::kAux);
  writer_.String(name);
  writer_.String(value);
}

void RdbFileWriter::Functions(std::string_view code) {
  Opcode(RdbOpcode::kFunctions);
  writer_.String(code);
}

void RdbFileWriter::Database(uint64_t index) {
  Opcode(RdbOpcode::kDatabase);
  writer_.Length(index);
}

void RdbFileWriter::Sizes(uint64_t keys, uint64_t keys_with_deadline) {
  Opcode(RdbOpcode::kSizes);
  writer_.Length(keys);
  writer_.Length(keys_with_deadline);
}

void RdbFileWriter::Deadline(int64_t unix_time_ms) {
  Opcode(RdbOpcode::kDeadline);
  AppendLittleEndian(static_cast<uint64_t>(unix_time_ms), 8, out_);
}

void RdbFileWriter::Idle(uint64_t seconds) {
  Opcode(RdbOpcode::kIdle);
  writer_.Length(seconds);
}

void RdbFileWriter::Frequency(uint8_t count) {
  Opcode(RdbOpcode::kFrequency);
  out_ += static_cast<char>(count);
}

RdbWriter& RdbFileWriter::Key(RdbType type, std::string_view key) {
  writer_.Type(type);
  writer_.String(key);
  return writer_;
}

}  // namespace zsetd
