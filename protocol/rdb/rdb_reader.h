#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// Reads the parts that values in Redis's format are made of, from bytes that anyone may have made
// up. The first error ends it: from then on every read returns nothing or zero. Memory is allocated
// for bytes that exist, never for announced lengths.
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

  // So many bytes as they are. Valid until the next read.
  std::string_view Bytes(size_t count) { return bytes_.Take(count); }
  uint64_t LittleEndian(size_t bytes) { return bytes_.Unsigned(bytes); }

  double Double() { return bytes_.Double(); }  // of 8 bytes
  double DoubleFromText();  // of digits, as Redis kept scores before; may be no number

  bool AtEnd() const { return bytes_.left() == 0; }  // of a string of bytes; a source is asked
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
