#include "server/engine/command/command_table.h"

#include <gtest/gtest.h>

#include "server/commands/all_commands.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/command/foreign_commands.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

TEST(CommandTable, RenamedCommandIsFoundByItsNewNameOnly) {
  CommandTable table(AllCommands());
  const Command* get = table.Find("get");
  ASSERT_TRUE(table.Rename("GET", "Fetch"));
  EXPECT_EQ(table.Find("get"), nullptr);
  EXPECT_EQ(table.Find("FETCH"), get);
  EXPECT_EQ(table.FindOriginal("get"), get);
  EXPECT_EQ(table.FindOriginal("fetch"), nullptr);
  EXPECT_TRUE(table.IsCallable(*get));
}

TEST(CommandTable, CommandRenamedToNothingIsRemovedWithItsSubcommands) {
  CommandTable table(AllCommands());
  const Command* config = table.Find("config");
  const Command* subcommand = table.Find("config|get");
  ASSERT_TRUE(table.Rename("config", ""));
  EXPECT_EQ(table.Find("config"), nullptr);
  EXPECT_EQ(table.Find("config|get"), nullptr);
  EXPECT_EQ(table.Find(""), nullptr);
  EXPECT_EQ(table.FindOriginal("config|get"), subcommand);
  EXPECT_FALSE(table.IsCallable(*config));
  EXPECT_FALSE(table.IsCallable(*subcommand));
}

TEST(CommandTable, NoTwoCommandsGetTheSameName) {
  CommandTable table(AllCommands());
  EXPECT_FALSE(table.Rename("get", "set"));
  EXPECT_FALSE(table.Rename("nosuch", "x"));
  EXPECT_TRUE(table.Rename("get", ""));
  EXPECT_TRUE(table.Rename("set", "get"));
  EXPECT_EQ(table.Find("get")->name, "set");
}

TEST(CommandTable, MarksTheCommandsWithOneKey) {
  const CommandTable table(AllCommands());
  for (const std::string_view name : {"get", "set", "zadd", "blmove", "xadd", "sort_ro", "exec",
                                      "mget", "zunion", "georadius", "spublish", "ping", "del"}) {
    const bool expected = name == "get" || name == "set" || name == "zadd" || name == "xadd";
    EXPECT_EQ(table.Find(name)->has_one_key, expected) << name;
  }
}

TEST(ForeignCommands, HaveNoRowsButKnownCategories) {
  const CommandTable table(AllCommands());
  for (const auto& [name, categories] : AllForeignCommands()) {
    EXPECT_EQ(table.FindOriginal(name), nullptr) << name;
    for (const std::string_view category : Split(categories, ' ')) {
      EXPECT_TRUE(FindCategory(category.substr(1))) << name << " " << category;
    }
  }
  EXPECT_EQ(FindForeignCommand("CommandLog|Get")->name, "commandlog|get");
  EXPECT_EQ(FindForeignCommand("nosuch"), nullptr);
}

}  // namespace
}  // namespace zsetd
