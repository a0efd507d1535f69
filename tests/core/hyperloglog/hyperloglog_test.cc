#include "core/hyperloglog/hyperloglog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/hyperloglog/hyperloglog_editor.h"
#include "core/hyperloglog/self_test.h"
#include "core/util/rng.h"

namespace zsetd::hyperloglog_test {
namespace {

using Result = HyperLogLogEditor::Result;

constexpr size_t kMostSparseBytes = 3000;
constexpr size_t kDenseBytes = 12304;

bool IsDense(const std::string& text) {
  return HyperLogLog::From(text)->encoding() == HllEncoding::kDense;
}

std::string With(int elements, size_t most_sparse_bytes = kMostSparseBytes) {
  std::string text = HyperLogLog::Empty();
  HyperLogLogEditor editor(text, most_sparse_bytes);
  for (int i = 0; i < elements; ++i) editor.Raise(UpdateOf(std::to_string(i)));
  return text;
}

HllRegisters RegistersOf(const std::string& text) {
  HllRegisters registers = {};
  EXPECT_TRUE(HyperLogLog::From(text)->Raise(registers));
  return registers;
}

TEST(HyperLogLog, ChecksTheHeader) {
  const std::string empty = HyperLogLog::Empty();
  EXPECT_EQ(empty.size(), 18u);
  EXPECT_TRUE(HyperLogLog::From(empty));
  EXPECT_TRUE(HyperLogLog::From(empty.substr(0, 16)));
  EXPECT_FALSE(HyperLogLog::From(empty.substr(0, 15)));
  EXPECT_FALSE(HyperLogLog::From("hyll" + empty.substr(4)));
  std::string other = empty;
  other[4] = 2;
  EXPECT_FALSE(HyperLogLog::From(other));
  other[4] = 0;
  EXPECT_FALSE(HyperLogLog::From(other)) << "dense registers have one length";
  other.resize(kDenseBytes);
  EXPECT_TRUE(HyperLogLog::From(other));
}

TEST(HyperLogLog, KeepsAnEstimateUntilItIsOutdated) {
  std::string text = HyperLogLog::Empty();
  EXPECT_EQ(HyperLogLog::From(text)->cached_estimate(), 0u);
  SetHllEstimate(text, 0x123456789abcdef);
  EXPECT_EQ(HyperLogLog::From(text)->cached_estimate(), 0x123456789abcdefu);
  HyperLogLogEditor(text, kMostSparseBytes).MarkEstimateOutdated();
  EXPECT_EQ(HyperLogLog::From(text)->cached_estimate(), std::nullopt);
  EXPECT_EQ(text.substr(8, 7), "\xef\xcd\xab\x89\x67\x45\x23");
}

TEST(HyperLogLog, BecomesDenseWithTheSameRegistersAndHeader) {
  std::string text = With(300);
  ASSERT_FALSE(IsDense(text));
  SetHllEstimate(text, 299);
  text[6] = 'x';  // not used
  const std::string before = text;
  ASSERT_TRUE(HyperLogLogEditor(text, kMostSparseBytes).MakeDense());
  EXPECT_TRUE(IsDense(text));
  EXPECT_EQ(text.size(), kDenseBytes);
  EXPECT_EQ(text.substr(5, 11), before.substr(5, 11));
  EXPECT_EQ(RegistersOf(text), RegistersOf(before));
  EXPECT_EQ(HyperLogLog::From(text)->Estimate(), HyperLogLog::From(before)->Estimate());
}

TEST(HyperLogLog, BecomesDenseForALongStringAndForAGreatValue) {
  EXPECT_FALSE(IsDense(With(1000)));
  EXPECT_TRUE(IsDense(With(5000)));
  EXPECT_LE(With(1200).size(), kMostSparseBytes);
  EXPECT_EQ(RegistersOf(With(1000, 100)), RegistersOf(With(1000)));
  std::string text = With(10);
  HyperLogLogEditor editor(text, kMostSparseBytes);
  EXPECT_EQ(editor.Raise({5, 33}), Result::kRaised);
  EXPECT_TRUE(IsDense(text));
  EXPECT_EQ(RegistersOf(text)[5], 33);
  EXPECT_EQ(editor.Raise({5, 32}), Result::kUnchanged);
}

TEST(HyperLogLog, RaisesAllAsOneAfterAnother) {
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const size_t most = rng.Below(4) == 0 ? 100 : kMostSparseBytes;
    HllRegisters others = {};
    for (uint64_t left = rng.Below(3000); left > 0; --left) {
      const auto value = static_cast<uint8_t>(1 + rng.Below(rng.Below(200) == 0 ? 51 : 8));
      others[rng.Below(kHllRegisters)] = value;
    }
    std::string text = With(static_cast<int>(rng.Below(2000)), most);
    std::string expected = text;
    HyperLogLogEditor(text, most).RaiseAll(others);
    for (uint32_t index = 0; index < kHllRegisters; ++index) {
      if (others[index] == 0) continue;
      HyperLogLogEditor(expected, most).Raise({index, others[index]});
    }
    ASSERT_EQ(text, expected);
  }
}

TEST(HyperLogLog, RefusesDamagedRegisters) {
  const std::string header = HyperLogLog::Empty().substr(0, kHllHeaderBytes);
  for (const char* runs : {"", "\x7f", "\x7f\xfe", "\x7f\xff\x01", "\x7f\xff\x80", "\x7f\xfe\x81",
                           "\x7f\xff\x7f\xff", "\x7f\xff\x7f"}) {
    std::string text = header + runs;
    HllRegisters registers = {};
    EXPECT_FALSE(HyperLogLog::From(text)->Raise(registers));
    EXPECT_EQ(HyperLogLog::From(text)->Estimate(), std::nullopt);
    HyperLogLogEditor editor(text, kMostSparseBytes);
    EXPECT_FALSE(editor.MakeDense());
    EXPECT_EQ(editor.Raise({5, 40}), Result::kDamaged);
    EXPECT_EQ(text, header + runs);
  }
}

TEST(HyperLogLog, PassesItsSelfTest) { EXPECT_EQ(TestHyperLogLog(), std::nullopt); }

}  // namespace
}  // namespace zsetd::hyperloglog_test
