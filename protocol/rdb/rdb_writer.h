#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/rdb/rdb_format.h"

namespace zsetd {

// Writes the parts that values in Redis's format are made of.
class RdbWriter {
 public:
  // Strings are compressed unless `compresses` is false (rdbcompression).
  explicit RdbWriter(std::string& out, bool compresses = true)
      : out_(out), compresses_(compresses) {}

  bool compresses() const { return compresses_; }

  void Type(RdbType type) { out_ += static_cast<char>(type); }
  void Length(uint64_t length);

  // As an integer if it is a canonical one, compressed if that saves space, else verbatim.
  void String(std::string_view bytes);

  void Double(double value);  // in 8 bytes

  // What another such writer has written.
  void Written(std::string_view bytes) { out_ += bytes; }

 private:
  bool WriteInteger(std::string_view bytes);
  bool WriteCompressed(std::string_view bytes);
  void Special(RdbSpecial kind);

  std::string& out_;
  bool compresses_;
};

}  // namespace zsetd
