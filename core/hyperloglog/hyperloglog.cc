#include "core/hyperloglog/hyperloglog.h"

#include <bit>
#include <cstring>

#include "core/hyperloglog/cardinality.h"
#include "core/hyperloglog/dense_registers.h"
#include "core/hyperloglog/sparse_registers.h"

namespace zsetd {

std::optional<HyperLogLog> HyperLogLog::From(std::string_view bytes) {
  if (bytes.size() < kHllHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  const HyperLogLog view(bytes);
  switch (view.encoding()) {
    case HllEncoding::kDense:
      if (bytes.size() != kHllHeaderBytes + kDenseHllBytes) return std::nullopt;
      return view;
    case HllEncoding::kSparse:
      return view;
  }
  return std::nullopt;
}

std::string HyperLogLog::Empty() {
  constexpr std::string_view kAllZero = "\x7f\xff";  // one run
  std::string bytes(kHllHeaderBytes, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  bytes[kEncodingAt] = static_cast<char>(HllEncoding::kSparse);
  return bytes.append(kAllZero);
}

std::optional<uint64_t> HyperLogLog::cached_estimate() const {
  static_assert(std::endian::native == std::endian::little, "the estimate is read in place");
  uint64_t estimate;
  std::memcpy(&estimate, bytes_.data() + kEstimateAt, sizeof(estimate));
  return static_cast<int64_t>(estimate) < 0 ? std::nullopt : std::optional(estimate);
}

std::optional<uint64_t> HyperLogLog::Estimate() const {
  if (encoding() == HllEncoding::kDense) {
    return EstimateCardinality(HistogramOfDense(registers().data()));
  }
  const std::optional<HllHistogram> histogram = HistogramOfSparse(registers());
  return histogram ? std::optional(EstimateCardinality(*histogram)) : std::nullopt;
}

bool HyperLogLog::Raise(HllRegisters& registers) const {
  if (encoding() == HllEncoding::kSparse) return RaiseToSparse(this->registers(), registers);
  RaiseToDense(this->registers().data(), registers);
  return true;
}

}  // namespace zsetd
