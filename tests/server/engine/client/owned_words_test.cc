#include "server/engine/client/owned_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zsetd {
namespace {

TEST(OwnedWords, OutliveTheRequest) {
  std::vector<std::string> said = {"SET", "", std::string(1000, 'x'), std::string("a\0b", 3)};
  const std::vector<std::string> expected = said;
  const std::vector<std::string_view> views(said.begin(), said.end());
  OwnedWords first{Words(views)};
  for (std::string& word : said) std::ranges::fill(word, '-');
  const OwnedWords words = std::move(first);
  EXPECT_TRUE(std::ranges::equal(words.words(), expected));
  EXPECT_TRUE(first.empty());  // NOLINT: it is to be empty
  EXPECT_TRUE(first.words().empty());
}

TEST(OwnedWords, TakeSixteenBytesAWordBesideTheBytes) {
  const std::vector<std::string_view> words(100'000, "");
  EXPECT_LE(OwnedWords{Words(words)}.allocated_bytes(), 100'000 * 16 * 5 / 4);
  EXPECT_EQ(OwnedWords().allocated_bytes(), 0u);
}

}  // namespace
}  // namespace zsetd
