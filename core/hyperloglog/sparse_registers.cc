#include "core/hyperloglog/sparse_registers.h"

#include <algorithm>

namespace zsetd {

bool RaiseToSparse(std::string_view sparse, HllRegisters& registers) {
  auto* at = registers.begin();
  return ForEachRun(sparse, [&](const SparseRun& run) {
    if (run.HasValue()) {
      std::for_each_n(at, run.length, [&](uint8_t& value) { value = std::max(value, run.value); });
    }
    at += run.length;
  });
}

std::optional<HllHistogram> HistogramOfSparse(std::string_view sparse) {
  HllHistogram histogram = {};
  const bool valid =
      ForEachRun(sparse, [&](const SparseRun& run) { histogram[run.value] += run.length; });
  return valid ? std::optional(histogram) : std::nullopt;
}

}  // namespace zsetd
