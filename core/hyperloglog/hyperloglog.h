// A HyperLogLog is a string with this layout, the same as in Redis:
//
//   0         4          5          8                 16
//   [ "HYLL" | encoding | not used | cached estimate | registers ]
//
// The encoding is 0 for dense registers (12304 bytes in total) and 1 for sparse ones. The cached
// estimate has eight bytes, the lowest first; the highest bit is set if it is out of date.
//
// Any string command can change such a string, so that it may be damaged. The header is checked by
// HyperLogLog::From(), and sparse registers each time they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/hyperloglog/registers.h"

namespace zsetd {

inline constexpr size_t kHllHeaderBytes = 16;

enum class HllEncoding : uint8_t { kDense = 0, kSparse = 1 };

// A view of such a string. Valid until the string changes.
class HyperLogLog {
 public:
  // Nullopt if the bytes do not have the header, or not the length of the dense encoding. O(1).
  static std::optional<HyperLogLog> From(std::string_view bytes);

  // The string of a HyperLogLog without elements, whose cached estimate is valid.
  static std::string Empty();

  HllEncoding encoding() const { return static_cast<HllEncoding>(bytes_[kEncodingAt]); }

  // The registers as they are encoded.
  std::string_view registers() const { return bytes_.substr(kHllHeaderBytes); }

  // The estimate that the string contains; nullopt if it is out of date. O(1).
  std::optional<uint64_t> cached_estimate() const;

  // The estimate from the registers. Nullopt if they are damaged. O(registers).
  std::optional<uint64_t> Estimate() const;

  // Raises each register to the one of this HyperLogLog, if that is greater. False if the registers
  // are damaged; some may have been raised then. O(registers).
  bool Raise(HllRegisters& registers) const;

 private:
  friend class HyperLogLogEditor;

  static constexpr std::string_view kMagic = "HYLL";
  static constexpr size_t kEncodingAt = 4;
  static constexpr size_t kEstimateAt = 8;

  explicit HyperLogLog(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace zsetd
