#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// Takes long strings from an RdbWriter, because compressing them takes long. What is written
// afterwards belongs behind them.
class LongStrings {
 public:
  virtual ~LongStrings() = default;
  virtual void Take(std::string bytes) = 0;
};

// Writes the parts that values in Redis's format are made of.
class RdbWriter {
 public:
  // Strings are compressed unless `compresses` is false (rdbcompression).
  explicit RdbWriter(std::string& out, bool compresses = true)
      : out_(out), compresses_(compresses) {}

  bool compresses() const { return compresses_; }

  // From now on String() passes strings of `least_bytes` or more to `long_strings`, which outlives
  // this; null: none.
  void set_long_strings(LongStrings* long_strings, size_t least_bytes) {
    long_strings_ = long_strings;
    least_long_ = least_bytes;
  }

  void Type(RdbType type) { out_ += static_cast<char>(type); }
  void Length(uint64_t length);

  // As an integer if it is a canonical one, compressed if that saves space, else verbatim.
  void String(std::string_view bytes);

  // The same of one that is the caller's no longer.
  void OwnString(std::string bytes);

  void Double(double value);  // in 8 bytes
  void LittleEndian(uint64_t value, size_t bytes);

  // What another such writer has written.
  void Written(std::string_view bytes) { out_ += bytes; }

 private:
  bool WriteInteger(std::string_view bytes);
  bool WriteCompressed(std::string_view bytes);
  void Special(RdbSpecial kind);

  std::string& out_;
  bool compresses_;
  LongStrings* long_strings_ = nullptr;
  size_t least_long_ = 0;
};

}  // namespace zsetd
