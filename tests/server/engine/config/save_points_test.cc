#include "server/engine/config/save_points.h"

#include <gtest/gtest.h>

#include <sstream>

#include "server/engine/config/settings_file.h"

namespace zsetd {
namespace {

std::string Of(const std::string& lines) {
  Settings settings;
  std::istringstream text(lines);
  EXPECT_TRUE(ReadSettings(text, "test", settings).ok());
  return settings.save.Text();
}

TEST(SavePoints, LinesReplaceTheDefaultAndAddToEachOther) {
  EXPECT_EQ(Of(""), "3600 1 300 100 60 10000");
  EXPECT_EQ(Of("save 900 1\n"), "900 1");
  EXPECT_EQ(Of("save 900 1\nsave 300 10 60 100\n"), "900 1 300 10 60 100");
  EXPECT_EQ(Of("save \"900 1 300 10\"\n"), "900 1 300 10");
  EXPECT_EQ(Of("save 900 1\nsave \"\"\n"), "");
  EXPECT_EQ(Of("save \"\"\nsave 900 1\n"), "900 1");
}

TEST(SavePoints, ARefusalChangesNothing) {
  SavePoints points;
  for (const char* text : {"1", "a 1", "1 b", "0 1", "1 -1", "1 1 1", "99999999999 1", "'"}) {
    EXPECT_FALSE(points.Read(text).ok()) << text;
    EXPECT_EQ(points, SavePoints()) << text;
  }
}

}  // namespace
}  // namespace zsetd
