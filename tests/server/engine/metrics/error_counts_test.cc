#include "server/engine/metrics/error_counts.h"

#include <string>

#include "gtest/gtest.h"

namespace zsetd {
namespace {

using Counts = std::map<std::string, uint64_t, std::less<>>;

TEST(ErrorCounts, CountsShortFirstWordsAndOthersAsErr) {
  ErrorCounts errors;
  errors.Add("ERR unknown command");
  errors.Add("WRONGTYPE x");
  errors.Add("WORDALONE");
  errors.Add("");
  errors.Add(std::string(31, 'x') + " too long");
  errors.Add(std::string(30, 'y') + " as long as allowed");
  EXPECT_EQ(errors.by_code(), (Counts{{"ERR", 4}, {"WRONGTYPE", 1}, {std::string(30, 'y'), 1}}));
}

TEST(ErrorCounts, ReplacesBytesThatBreakTheFormatOfInfo) {
  ErrorCounts errors;
  errors.Add("A:B x");
  errors.Add("A#B x");
  errors.Add("A\r\nB x");
  EXPECT_EQ(errors.by_code(), (Counts{{"A_B", 2}, {"A__B", 1}}));
}

TEST(ErrorCounts, CountsTheCodesBeyondTheMostTogether) {
  ErrorCounts errors;
  for (size_t i = 0; i < ErrorCounts::kMostCodes + 10; ++i) {
    errors.Add("E" + std::to_string(i) + " x");
  }
  errors.Add("E0 x");
  EXPECT_EQ(errors.by_code().size(), ErrorCounts::kMostCodes + 1);
  EXPECT_EQ(errors.by_code().find("E0")->second, 2u);
  EXPECT_EQ(errors.by_code().find(ErrorCounts::kOverflow)->second, 10u);
}

}  // namespace
}  // namespace zsetd
