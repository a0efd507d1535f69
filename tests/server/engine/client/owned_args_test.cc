#include "server/engine/client/owned_args.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

TEST(OwnedArgs, OutliveTheRequest) {
  std::vector<std::string> said = {"SET", "", std::string(1000, 'x'), std::string("a\0b", 3)};
  const std::vector<std::string> expected = said;
  const std::vector<std::string_view> views(said.begin(), said.end());
  OwnedArgs first{Args(views)};
  for (std::string& word : said) std::ranges::fill(word, '-');
  const OwnedArgs words = std::move(first);
  EXPECT_TRUE(std::ranges::equal(words.argv(), expected));
  EXPECT_TRUE(first.empty());  // NOLINT: must be empty after the move
  EXPECT_TRUE(first.argv().empty());
}

TEST(OwnedArgs, TakeSixteenBytesPerWordPlusTheBytes) {
  const std::vector<std::string_view> words(100'000, "");
  EXPECT_LE(OwnedArgs{Args(words)}.allocated_bytes(), 100'000 * 16 * 5 / 4);
  EXPECT_EQ(OwnedArgs().allocated_bytes(), 0u);
}

}  // namespace
}  // namespace zsetd
