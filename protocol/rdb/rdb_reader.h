#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// Reads the parts of values in Redis's format from untrusted bytes. After the first error, every
// read returns an empty or zero result. Memory use is bounded by the bytes that exist, not by
// announced lengths.
class RdbReader {
 public:
  // The maximum length of a string after decompression.
  RdbReader(std::string_view bytes, size_t max_string_bytes)
      : bytes_(bytes), max_string_bytes_(max_string_bytes) {}
  RdbReader(ByteSource& source, size_t max_string_bytes)
      : bytes_(source), max_string_bytes_(max_string_bytes) {}

  uint8_t Byte() { return bytes_.Byte(); }
  uint64_t Length();

  // Valid until the next read.
  std::string_view String();

  // The next `count` bytes, unchanged. Valid until the next read.
  std::string_view Bytes(size_t count) { return bytes_.Take(count); }
  uint64_t LittleEndian(size_t bytes) { return bytes_.Unsigned(bytes); }

  double Double() { return bytes_.Double(); }  // of 8 bytes
  double DoubleFromText();  // a score as text, the layout before RDB version 8; may be NaN

  bool AtEnd() const { return bytes_.left() == 0; }  // only for a string of bytes, not for a source
  size_t left() const { return bytes_.left(); }
  bool ok() const { return bytes_.ok(); }
  void Break() { bytes_.Break(); }

 private:
  std::string_view Special(RdbSpecial kind);
  std::string_view IntegerText(size_t bytes);
  std::string_view Unpacked();

  ByteCursor bytes_;
  size_t max_string_bytes_;
  std::string made_;  // the last string that had to be decoded
};

}  // namespace zsetd
