#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/hyperloglog/hyperloglog.h"
#include "core/hyperloglog/sparse_editor.h"
#include "core/string/byte_string.h"

namespace zsetd {

// Changes a string that HyperLogLog::From() accepts. The bytes are those of redis-server after the
// same changes in the same order.
class HyperLogLogEditor {
 public:
  enum class Result { kUnchanged, kRaised, kDamaged };

  // Sparse registers become dense if the string would be longer than `most_sparse_bytes`, or if a
  // value is too great for them. The string outlives this, and nothing else changes it.
  HyperLogLogEditor(std::string& text, size_t most_sparse_bytes);

  // Raises a register. Changes nothing if the registers are so damaged that this is impossible.
  // O(1) for dense registers; for sparse ones see SparseEditor.
  Result Raise(HllUpdate update);

  // Raises all registers that are less than these. O(registers). Precondition: the registers of the
  // string are not damaged.
  void RaiseAll(const HllRegisters& registers);

  // Encodes the registers densely, unless they already are. False if they are damaged; nothing is
  // changed then. O(registers).
  bool MakeDense();

  // Marks the cached estimate as out of date. Its other bits stay. O(1).
  void MarkEstimateOutdated();

 private:
  bool IsDense() const { return HyperLogLog(text_).encoding() == HllEncoding::kDense; }
  char* registers() { return text_.data() + kHllHeaderBytes; }
  Result RaiseDense(HllUpdate update);
  void RaiseAllDense(const HllRegisters& registers);

  std::string& text_;
  SparseEditor sparse_;
};

// The place of the cached estimate in the string, and a function that sets it. O(1).
inline constexpr ByteRange kHllEstimateRange = {.begin = 8, .end = kHllHeaderBytes};
void SetHllEstimate(std::span<char> bytes, uint64_t estimate);

}  // namespace zsetd
