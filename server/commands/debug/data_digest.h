#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/keyspace/entry.h"

namespace zsetd {

// A fingerprint of data, computed as in Redis, to compare two servers. It is equal for equal
// contents, regardless of the operations that made them and of the order of unordered parts.
class DataDigest {
 public:
  // Adds the next part of an ordered value.
  void Append(std::string_view bytes);

  // Adds a part of an unordered value. Adding the same part twice cancels out.
  void Add(std::string_view bytes);
  void Add(const DataDigest& part) { Add(part.bytes()); }

  std::string Text() const;  // 40 hexadecimal digits; all zero without data

 private:
  static constexpr size_t kBytes = 20;  // SHA-1's
  std::string_view bytes() const { return {reinterpret_cast<const char*>(digest_.data()), kBytes}; }

  std::array<unsigned char, kBytes> digest_ = {};
};

// Adds a number as Redis does: four bytes, the most significant first.
void AppendNumber(DataDigest& digest, uint32_t number);

// Adds the entry's value and whether it has a deadline, but not its key. O(bytes).
void AppendValue(DataDigest& digest, const Entry& entry);

}  // namespace zsetd
