#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/keyspace/entry.h"

namespace zsetd {

// A fingerprint of data, made as Redis makes it, so that two servers can be compared: equal for
// equal contents, however they came about and in whatever order unordered parts are visited.
class DataDigest {
 public:
  // Adds the next part of an ordered value.
  void Append(std::string_view bytes);

  // Adds a part of an unordered whole. Adding the same part twice cancels out.
  void Add(std::string_view bytes);
  void Add(const DataDigest& part) { Add(part.bytes()); }

  std::string Text() const;  // 40 hexadecimal digits; zeros for nothing

 private:
  static constexpr size_t kBytes = 20;  // SHA-1's
  std::string_view bytes() const { return {reinterpret_cast<const char*>(digest_.data()), kBytes}; }

  std::array<unsigned char, kBytes> digest_ = {};
};

// Takes in a number as Redis does: four bytes, the highest first.
void AppendNumber(DataDigest& digest, uint32_t number);

// Takes in what the entry holds and whether it has a deadline, but not its key. O(bytes).
void AppendValue(DataDigest& digest, const Entry& entry);

}  // namespace zsetd
