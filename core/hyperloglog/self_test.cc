#include "core/hyperloglog/self_test.h"

#include <cmath>
#include <cstdint>

#include "core/hyperloglog/dense_registers.h"
#include "core/hyperloglog/hyperloglog.h"
#include "core/hyperloglog/hyperloglog_editor.h"
#include "core/util/rng.h"

namespace zsetd {
namespace {

using Failure = std::optional<std::string>;

// Each dense register keeps its value while its neighbours are written.
Failure TestDenseRegisters() {
  Rng rng(1);
  std::string bytes(kHllHeaderBytes + kDenseHllBytes, '\0');
  char* const dense = bytes.data() + kHllHeaderBytes;
  HllRegisters model;
  for (size_t i = 0; i < kHllRegisters; ++i) {
    model[i] = static_cast<uint8_t>(rng.Below(kHllValues));
    SetDenseHllRegister(dense, i, model[i]);
  }
  for (size_t i = 0; i < kHllRegisters; ++i) {
    const uint8_t value = DenseHllRegister(dense, i);
    if (value == model[i]) continue;
    return "Register " + std::to_string(i) + " should be " + std::to_string(model[i]) + " but is " +
           std::to_string(value);
  }
  return std::nullopt;
}

// The estimate of `text` after this number of distinct elements was added.
Failure TestEstimate(const std::string& text, uint64_t elements) {
  constexpr double kStandardError = 0.0081;  // 1.04 / sqrt(registers)
  constexpr double kStandardErrors = 6;
  const uint64_t estimate = HyperLogLog::From(text)->Estimate().value_or(0);
  const double error = std::abs(static_cast<double>(estimate) - static_cast<double>(elements));
  if (error <= 1 + kStandardErrors * kStandardError * static_cast<double>(elements)) {
    return std::nullopt;
  }
  return "The estimate of " + std::to_string(elements) + " elements is " + std::to_string(estimate);
}

// A string that is sparse as long as possible counts like one that was always dense.
Failure TestEstimates() {
  constexpr size_t kMostSparseBytes = 3000;
  constexpr uint64_t kElements = 20'000;
  std::string sparse = HyperLogLog::Empty(), dense = HyperLogLog::Empty();
  HyperLogLogEditor sparse_editor(sparse, kMostSparseBytes), dense_editor(dense, kMostSparseBytes);
  dense_editor.MakeDense();
  uint64_t checkpoint = 1;
  for (uint64_t elements = 1; elements <= kElements; ++elements) {
    const HllUpdate update = UpdateOf("element:" + std::to_string(elements));
    if (sparse_editor.Raise(update) != dense_editor.Raise(update)) {
      return "Sparse and dense registers differ after " + std::to_string(elements) + " elements";
    }
    if (elements < checkpoint) continue;
    checkpoint *= 10;
    for (const std::string* text : {&sparse, &dense}) {
      if (Failure failure = TestEstimate(*text, elements)) return failure;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> TestHyperLogLog() {
  if (Failure failure = TestDenseRegisters()) return failure;
  return TestEstimates();
}

}  // namespace zsetd
