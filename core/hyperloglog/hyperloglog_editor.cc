#include "core/hyperloglog/hyperloglog_editor.h"

#include <cassert>
#include <cstring>

#include "core/hyperloglog/dense_registers.h"
#include "core/hyperloglog/sparse_registers.h"

namespace zsetd {

HyperLogLogEditor::HyperLogLogEditor(std::string& text, size_t most_sparse_bytes)
    : text_(text), sparse_(text, kHllHeaderBytes, most_sparse_bytes) {
  assert(HyperLogLog::From(text));
}

HyperLogLogEditor::Result HyperLogLogEditor::Raise(HllUpdate update) {
  if (IsDense()) return RaiseDense(update);
  switch (sparse_.Raise(update)) {
    case SparseEditor::Result::kUnchanged:
      return Result::kUnchanged;
    case SparseEditor::Result::kRaised:
      return Result::kRaised;
    case SparseEditor::Result::kNeedsDense:
      return MakeDense() ? RaiseDense(update) : Result::kDamaged;
    case SparseEditor::Result::kDamaged:
      return Result::kDamaged;
  }
  return Result::kDamaged;
}

HyperLogLogEditor::Result HyperLogLogEditor::RaiseDense(HllUpdate update) {
  if (DenseHllRegister(registers(), update.index) >= update.value) return Result::kUnchanged;
  SetDenseHllRegister(registers(), update.index, update.value);
  return Result::kRaised;
}

void HyperLogLogEditor::RaiseAll(const HllRegisters& registers) {
  for (uint32_t index = 0; index < kHllRegisters; ++index) {
    if (IsDense()) return RaiseAllDense(registers);
    if (registers[index] == 0) continue;
    const Result result = Raise({.index = index, .value = registers[index]});
    assert(result != Result::kDamaged);
    static_cast<void>(result);
  }
}

void HyperLogLogEditor::RaiseAllDense(const HllRegisters& others) {
  HllRegisters sum = others;
  RaiseToDense(registers(), sum);
  PackDense(sum, registers());
}

bool HyperLogLogEditor::MakeDense() {
  if (IsDense()) return true;
  HllRegisters values = {};
  if (!HyperLogLog(text_).Raise(values)) return false;
  std::string dense = text_.substr(0, kHllHeaderBytes);
  dense.resize(kHllHeaderBytes + kDenseHllBytes);
  dense[HyperLogLog::kEncodingAt] = static_cast<char>(HllEncoding::kDense);
  text_.swap(dense);
  PackDense(values, registers());
  return true;
}

void HyperLogLogEditor::MarkEstimateOutdated() { text_[kHllHeaderBytes - 1] |= '\x80'; }

void SetHllEstimate(std::span<char> bytes, uint64_t estimate) {
  assert(bytes.size() >= kHllHeaderBytes);
  std::memcpy(&bytes[kHllEstimateRange.begin], &estimate, sizeof(estimate));
}

}  // namespace zsetd
