#include "core/hyperloglog/registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/hashing/murmur_hash.h"
#include "core/hyperloglog/cardinality.h"
#include "core/hyperloglog/dense_registers.h"
#include "core/hyperloglog/hyperloglog.h"
#include "core/util/rng.h"

namespace zsetd {
namespace {

// The values of the reference implementation.
TEST(MurmurHash, OfKnownBytes) {
  EXPECT_EQ(MurmurHash64A("", 0), 0u);
  EXPECT_EQ(MurmurHash64A("a", 0), 0x071717d2d36b6b11u);
  EXPECT_EQ(MurmurHash64A("abcdefgh", 0) == MurmurHash64A("abcdefgh", 1), false);
}

TEST(HllRegisters, ValuesHaveAGeometricDistribution) {
  HllHistogram histogram = {};
  constexpr int kElements = 1 << 18;
  for (int i = 0; i < kElements; ++i) {
    const HllUpdate update = UpdateOf("element:" + std::to_string(i));
    ASSERT_LT(update.index, kHllRegisters);
    ASSERT_GE(update.value, 1);
    ASSERT_LE(update.value, kMostHllValue);
    ++histogram[update.value];
  }
  for (int value = 1; value <= 8; ++value) {
    const double expected = std::ldexp(kElements, -value);
    EXPECT_NEAR(histogram[value], expected, 5 * std::sqrt(expected));
  }
}

class DenseRegisters : public testing::Test {
 protected:
  char* dense() { return bytes_.data() + kHllHeaderBytes; }

  std::string bytes_ = std::string(kHllHeaderBytes + kDenseHllBytes, '\x55');
};

TEST_F(DenseRegisters, EqualAPlainModel) {
  Rng rng(3);
  HllRegisters model = {};
  PackDense(model, dense());
  for (int i = 0; i < 200000; ++i) {
    const uint64_t index = rng.Below(kHllRegisters);
    const auto value = static_cast<uint8_t>(rng.Below(kHllValues));
    ASSERT_EQ(DenseHllRegister(dense(), index), model[index]);
    SetDenseHllRegister(dense(), index, value);
    model[index] = value;
  }
  EXPECT_EQ(bytes_.substr(0, kHllHeaderBytes), std::string(kHllHeaderBytes, '\x55'));
  EXPECT_EQ(HistogramOfDense(dense()), HistogramOf(model));
  HllRegisters unpacked = {};
  RaiseToDense(dense(), unpacked);
  EXPECT_EQ(unpacked, model);
  const std::string before = bytes_;
  PackDense(model, dense());
  EXPECT_EQ(bytes_, before);
}

TEST_F(DenseRegisters, RaiseOthersToTheGreaterValue) {
  Rng rng(4);
  HllRegisters a, b;
  for (uint8_t& value : a) value = static_cast<uint8_t>(rng.Below(kHllValues));
  for (uint8_t& value : b) value = static_cast<uint8_t>(rng.Below(kHllValues));
  PackDense(a, dense());
  HllRegisters sum = b;
  RaiseToDense(dense(), sum);
  for (size_t i = 0; i < kHllRegisters; ++i) ASSERT_EQ(sum[i], std::max(a[i], b[i]));
}

TEST(HllHistogram, CountsEachValue) {
  Rng rng(5);
  HllRegisters registers = {};
  HllHistogram expected = {};
  expected[0] = kHllRegisters;
  EXPECT_EQ(HistogramOf(registers), expected);
  expected = {};
  for (uint8_t& value : registers) {
    value = static_cast<uint8_t>(rng.Below(kHllValues));
    ++expected[value];
  }
  EXPECT_EQ(HistogramOf(registers), expected);
}

TEST(Cardinality, IsExactForNoneAndInfiniteForDamagedRegisters) {
  HllHistogram histogram = {};
  histogram[0] = kHllRegisters;
  EXPECT_EQ(EstimateCardinality(histogram), 0u);
  histogram = {};
  histogram[kHllValues - 1] = kHllRegisters;
  EXPECT_EQ(EstimateCardinality(histogram), uint64_t{1} << 63);
}

TEST(Cardinality, IsWithinFourStandardErrors) {
  HllRegisters registers = {};
  int elements = 0;
  for (const int goal : {10, 100, 1000, 10'000, 20'000, 40'000, 80'000, 300'000}) {
    for (; elements < goal; ++elements) {
      const HllUpdate update = UpdateOf("x" + std::to_string(elements));
      registers[update.index] = std::max(registers[update.index], update.value);
    }
    const auto estimate = static_cast<double>(EstimateCardinality(HistogramOf(registers)));
    EXPECT_NEAR(estimate, goal, 4 * 0.0081 * goal + 1);
  }
}

}  // namespace
}  // namespace zsetd
