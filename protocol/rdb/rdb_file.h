// Redis's file format for a whole dataset, used for snapshots on disk and for replicas:
//
//   "REDIS0010"                          magic and version; Valkey's from 9 on is "VALKEY080"
//   [ 250 name value ]...                about the server that wrote it
//   [ 245 code ]...                      libraries of functions
//   [ 254 database ] [ 251 keys keys-with-deadline ]
//     [ 252 deadline:8 ] [ 248 idle | 249 frequency:1 ] type key value
//     ...
//   255 crc64:8                          0: no checksum; none at all before version 5
//
// Everything between the magic and the end is a part that begins with one byte: an opcode, or the
// type of a value. A value belongs to the database that was selected last; the properties of its
// key directly precede it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/rdb/rdb_format.h"
#include "protocol/rdb/rdb_reader.h"
#include "protocol/rdb/rdb_writer.h"

namespace zsetd {

enum class RdbOpcode : uint8_t {
  kKeyMetadata = 243,  // Redis 8.4, of modules; Valkey 9: a slot that was being imported
  kSlotInfo = 244,     // slot, keys, keys with a deadline
  kFunctions = 245,
  kFunctionsOfOld = 246,  // of release candidates of Redis 7.0
  kModuleAux = 247,
  kIdle = 248,  // seconds
  kFrequency = 249,
  kAux = 250,
  kSizes = 251,
  kDeadline = 252,           // milliseconds
  kDeadlineInSeconds = 253,  // in 4 bytes
  kDatabase = 254,
  kEnd = 255,
};
inline constexpr uint8_t kFirstRdbOpcode = 243;

// The version of a file, from the 9 bytes that it begins with.
struct RdbVersion {
  uint16_t number = 0;
  bool is_valkey = false;

  bool HasChecksum() const { return number >= 5; }
};
inline constexpr size_t kRdbMagicBytes = 9;

// Returns nullopt if the bytes are not the beginning of such a file. CanRead() returns whether this
// server supports the version.
std::optional<RdbVersion> ParseRdbMagic(std::string_view bytes);
bool CanRead(const RdbVersion& version);

// Writes the parts of a file.
class RdbFileWriter {
 public:
  RdbFileWriter(std::string& out, bool compresses) : out_(out), writer_(out, compresses) {}

  void Magic(uint16_t version = kRdbVersionWritten);
  void Aux(std::string_view name, std::string_view value);
  void Functions(std::string_view code);  // of one library
  void Database(uint64_t index);
  void Sizes(uint64_t keys, uint64_t keys_with_deadline);
  void Deadline(int64_t unix_time_ms);
  void Idle(uint64_t seconds);
  void Frequency(uint8_t count);

  // Writes the type of a value and its key. The value must follow, written by the returned writer.
  RdbWriter& Key(RdbType type, std::string_view key);
  RdbWriter& values() { return writer_; }

  // Passes unwritten parts to `parts`, which outlives this, and long strings like RdbWriter. If it
  // is not called, parts are written immediately.
  void set_unwritten_parts(UnwrittenParts* parts, size_t least_bytes) {
    parts_ = parts;
    writer_.set_unwritten_parts(parts, least_bytes);
  }

  void Later(std::unique_ptr<UnwrittenPart> part) {
    parts_ == nullptr ? part->Write(*this) : parts_->Take(std::move(part));
  }

  // Writes the last opcode. The checksum of all bytes must follow.
  void End() { Opcode(RdbOpcode::kEnd); }

 private:
  void Opcode(RdbOpcode opcode) { out_ += static_cast<char>(opcode); }

  std::string& out_;
  RdbWriter writer_;
  UnwrittenParts* parts_ = nullptr;
};

// Skips a value that is not supported: a module value that encodes its own length.
// Returns false for other types, or if the bytes are invalid.
bool SkipRdbValue(RdbReader& reader, RdbType type);

// Skips the data after RdbOpcode::kModuleAux in the same way.
bool SkipRdbModuleAux(RdbReader& reader);

}  // namespace zsetd
