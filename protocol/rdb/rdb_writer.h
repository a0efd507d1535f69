#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/rdb/rdb_format.h"

namespace zsetd {

class RdbFileWriter;

// A part of a file whose bytes are encoded later, possibly on another thread, because encoding is
// slow.
class UnwrittenPart {
 public:
  virtual ~UnwrittenPart() = default;

  virtual size_t bytes() const = 0;  // in memory; O(1)

  virtual void Write(RdbFileWriter& writer) = 0;  // may be called once
};

// Takes unwritten parts from a writer. Bytes that are written later belong after them.
class UnwrittenParts {
 public:
  virtual ~UnwrittenParts() = default;
  virtual void Take(std::unique_ptr<UnwrittenPart> part) = 0;
};

// Writes the parts of values in Redis's format.
class RdbWriter {
 public:
  // Strings are compressed unless `compresses` is false (rdbcompression).
  explicit RdbWriter(std::string& out, bool compresses = true)
      : out_(out), compresses_(compresses) {}

  bool compresses() const { return compresses_; }

  // Passes strings of `least_bytes` or more, whose compression is slow, to `parts`, which outlives
  // this.
  void set_unwritten_parts(UnwrittenParts* parts, size_t least_bytes) {
    parts_ = parts;
    least_long_ = least_bytes;
  }

  void Type(RdbType type) { out_ += static_cast<char>(type); }
  void Length(uint64_t length);

  // Writes a canonical integer as an integer. Compresses other strings if that saves space, else
  // writes them verbatim.
  void String(std::string_view bytes);

  // Like String(), but takes over the bytes.
  void OwnString(std::string bytes);

  void Double(double value);  // in 8 bytes
  void LittleEndian(uint64_t value, size_t bytes);

  // Appends bytes that another RdbWriter has written.
  void Written(std::string_view bytes) { out_ += bytes; }

 private:
  bool WriteInteger(std::string_view bytes);
  bool WriteCompressed(std::string_view bytes);
  void Special(RdbSpecial kind);

  std::string& out_;
  bool compresses_;
  UnwrittenParts* parts_ = nullptr;
  size_t least_long_ = 0;
};

}  // namespace zsetd
