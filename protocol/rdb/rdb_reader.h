#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/byte_cursor.h"
#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// Reads the parts that values in Redis's format are made of, from bytes that anyone may have made
// up. The first thing that is wrong ends it: from then on every read gives nothing or zero. Memory
// follows what is there, never what is announced.
class RdbReader {
 public:
  // No string is longer than so many bytes once it is unpacked.
  RdbReader(std::string_view bytes, size_t max_string_bytes)
      : bytes_(bytes), max_string_bytes_(max_string_bytes) {}

  uint8_t Byte() { return bytes_.Byte(); }
  uint64_t Length();

  // Valid until the next string is read.
  std::string_view String();

  double Double() { return bytes_.Double(); }  // of 8 bytes
  double DoubleFromText();  // of digits, as Redis kept scores before; may be no number

  bool AtEnd() const { return bytes_.left() == 0; }
  bool ok() const { return bytes_.ok(); }
  void Break() { bytes_.Break(); }

 private:
  std::string_view Special(RdbSpecial kind);
  std::string_view IntegerText(size_t bytes);
  std::string_view Unpacked();

  ByteCursor bytes_;
  size_t max_string_bytes_;
  std::string made_;  // the last string that does not stand in the bytes as it is
};

}  // namespace zsetd
