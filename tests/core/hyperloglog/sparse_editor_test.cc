#include "core/hyperloglog/sparse_editor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "core/hyperloglog/registers.h"
#include "core/util/rng.h"

namespace zsetd::sparse_editor_test {
namespace {

using Result = SparseEditor::Result;

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
const std::string kAllZero = "\x7f\xff";

std::string Raised(std::string runs, HllUpdate update, size_t most = kNoLimit) {
  SparseEditor editor(runs, 0, most);
  EXPECT_EQ(editor.Raise(update), Result::kRaised);
  return runs;
}

HllRegisters RegistersOf(const std::string& runs) {
  HllRegisters registers = {};
  EXPECT_TRUE(RaiseToSparse(runs, registers));
  return registers;
}

TEST(SparseEditor, DividesTheRunOfTheRegister) {
  EXPECT_EQ(Raised(kAllZero, {0, 1}), "\x80\x7f\xfe");
  EXPECT_EQ(Raised(kAllZero, {16383, 32}), "\x7f\xfe\xfc");
  EXPECT_EQ(Raised(kAllZero, {64, 2}), "\x3f\x84\x7f\xbe") << "64 registers fit a byte";
  EXPECT_EQ(Raised(kAllZero, {65, 2}), "\x40\x40\x84\x7f\xbd");
  EXPECT_EQ(Raised("\x03\x7f\xfb", {2, 1}), std::string("\x01\x80\x00\x7f\xfb", 5));
  EXPECT_EQ(Raised("\x83\x7f\xfb", {1, 2}), "\x80\x84\x81\x7f\xfb");
}

TEST(SparseEditor, JoinsEqualNeighboursUpToFourRegisters) {
  EXPECT_EQ(Raised(std::string("\x82\x00\x7f\xfb", 4), {3, 1}), "\x83\x7f\xfb");
  EXPECT_EQ(Raised(std::string("\x83\x00\x7f\xfa", 4), {4, 1}), "\x83\x80\x7f\xfa");
  EXPECT_EQ(Raised(std::string("\x80\x00\x80\x7f\xfc", 5), {1, 1}), "\x82\x7f\xfc");
}

TEST(SparseEditor, RefusesWhatDoesNotFit) {
  std::string runs = kAllZero;
  SparseEditor editor(runs, 0, 4);
  EXPECT_EQ(editor.Raise({100, 33}), Result::kNeedsDense);
  EXPECT_EQ(editor.Raise({100, 1}), Result::kNeedsDense);
  EXPECT_EQ(editor.Raise({0, 1}), Result::kRaised);
  EXPECT_EQ(editor.Raise({0, 1}), Result::kUnchanged);
  EXPECT_EQ(editor.Raise({0, 32}), Result::kRaised) << "the length stays";
  EXPECT_EQ(runs, "\xfc\x7f\xfe");
}

TEST(SparseEditor, FindsNoRegisterInDamagedRuns) {
  for (const std::string& damaged : {std::string(), std::string("\x05"), std::string("\x05\x7f")}) {
    std::string runs = damaged;
    SparseEditor editor(runs, 0, kNoLimit);
    EXPECT_EQ(editor.Raise({100, 1}), Result::kDamaged);
    EXPECT_EQ(runs, damaged);
  }
}

// An editor that searches from the start for each update writes the same bytes.
TEST(SparseEditor, EqualsAPlainModelAndAnEditorWithoutMemory) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const uint32_t registers = seed % 3 == 0 ? kHllRegisters : 1 + rng.Below(200);
    std::string runs = kAllZero, other = kAllZero;
    HllRegisters model = {};
    auto editor = std::make_unique<SparseEditor>(runs, 0, kNoLimit);
    uint32_t index = 0;
    for (int step = 0; step < 1000; ++step) {
      const bool is_next = rng.Below(3) > 0;
      index = (is_next ? index + rng.Below(3) : rng.Below(registers)) % registers;
      if (rng.Below(20) == 0) editor = std::make_unique<SparseEditor>(runs, 0, kNoLimit);
      const HllUpdate update = {index, static_cast<uint8_t>(1 + rng.Below(rng.Below(32) + 1))};
      const bool raises = model[index] < update.value;
      model[index] = std::max(model[index], update.value);
      ASSERT_EQ(editor->Raise(update), raises ? Result::kRaised : Result::kUnchanged);
      SparseEditor(other, 0, kNoLimit).Raise(update);
      ASSERT_EQ(runs, other);
      ASSERT_EQ(RegistersOf(runs), model);
    }
  }
}

TEST(SparseEditor, DamagedRunsAreNeverReadBeyondTheirEnd) {
  Rng rng(7);
  for (int i = 0; i < 20000; ++i) {
    std::string runs(rng.Below(12), '\0');
    for (char& byte : runs) byte = static_cast<char>(rng.Next());
    runs.shrink_to_fit();
    SparseEditor editor(runs, 0, 20);
    for (int update = 0; update < 4; ++update) {
      const auto index = static_cast<uint32_t>(rng.Below(rng.Below(2) ? 30 : kHllRegisters));
      editor.Raise({index, static_cast<uint8_t>(1 + rng.Below(40))});
      ASSERT_LE(runs.size(), 20);
      HllRegisters registers = {};
      EXPECT_EQ(RaiseToSparse(runs, registers), HistogramOfSparse(runs).has_value());
    }
  }
}

}  // namespace
}  // namespace zsetd::sparse_editor_test
