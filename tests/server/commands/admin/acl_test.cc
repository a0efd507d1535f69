// Users and their rules, with the rows of all commands.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "server/commands/all_commands.h"
#include "server/engine/acl/acl_file.h"
#include "server/engine/command/command_categories.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

class Acl : public testing::Test {
 protected:
  // Each test has its own file because tests run in parallel.
  static std::string FileWith(const std::string& text) {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string path = testing::TempDir() + "zsetd-users-" + test;
    std::ofstream(path) << text;
    return path;
  }

  User MakeUser(const std::vector<std::string>& modifiers) const {
    User user("u", commands_, false);
    for (const std::string& modifier : modifiers) EXPECT_TRUE(user.Apply(modifier, false).ok());
    return user;
  }

  const CommandTable commands_{AllCommands()};
};

void ApplyAll(const std::string& text, AclSelector& selector) {
  for (const std::string_view word : Split(text, ' '))
    ASSERT_TRUE(selector.Apply(word).ok()) << word;
}

TEST_F(Acl, ListedRulesReadBackAsTheSameRules) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 rng(seed);
  const std::vector<std::string> others = {"~a*",       "%R~b",    "%W~b",       "&c*",
                                           "+select|0", "-config", "+config|get"};
  for (int round = 0; round < 200; ++round) {
    AclSelector told(commands_);
    for (unsigned left = rng() % 12; left > 0; --left) {
      const std::string sign = rng() % 2 == 0 ? "+" : "-";
      const Command& row = commands_.rows()[rng() % commands_.rows().size()];
      const std::string category(AllCategories()[rng() % AllCategories().size()]);
      const std::string choices[] = {sign + std::string(row.name), sign + "@" + category,
                                     sign + "@all", others[rng() % others.size()]};
      ASSERT_TRUE(told.Apply(choices[rng() % 4 == 0 ? 2 : rng() % 4]).ok());
    }
    AclSelector taken(commands_);
    ApplyAll(told.Text(), taken);
    EXPECT_EQ(taken.Text(), told.Text());
    const std::vector<std::string_view> words = {"x", "0", "b"};
    for (const Command& row : commands_.rows()) {
      const auto a = told.Check(row, words), b = taken.Check(row, words);
      EXPECT_EQ(a.has_value(), b.has_value()) << row.name << " after " << told.Text();
    }
  }
}

TEST_F(Acl, RefusedModifierChangesNothing) {
  const std::vector<std::string> bad = {"+nosuch", "+@nosuch",  "%X~a",     "~a b",
                                        "#abc",    "(+nosuch)", "nonsense", "<none"};
  User user = MakeUser({"on", ">secret", "+get", "~a", "&c"});
  const std::string before = user.Text();
  for (const std::string& modifier : bad) {
    EXPECT_FALSE(user.Apply(modifier, false).ok()) << modifier;
    EXPECT_EQ(user.Text(), before) << modifier;
  }
}

TEST_F(Acl, PasswordIsKeptHashed) {
  const User user = MakeUser({"on", ">secret"});
  EXPECT_EQ(user.Text().find("secret"), std::string::npos);
  EXPECT_EQ(
      user.password_hashes(),  // printf secret | sha256sum
      std::vector<std::string>{"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"});
  EXPECT_TRUE(user.Admits("secret"));
  EXPECT_FALSE(user.Admits("secre"));
  EXPECT_FALSE(user.Admits(user.password_hashes()[0]));
}

TEST_F(Acl, OnlyAUserWithAllPermissionsMayRunEverything) {
  EXPECT_TRUE(MakeUser({"+@all", "~*", "&*"}).MayDoAll());
  EXPECT_TRUE(MakeUser({"(+@all ~* &*)"}).MayDoAll());
  EXPECT_FALSE(MakeUser({"+@all", "~*", "&*", "-get"}).MayDoAll());
  EXPECT_FALSE(MakeUser({"+@all", "~*"}).MayDoAll());
  EXPECT_FALSE(MakeUser({"+@all", "&*", "~a*"}).MayDoAll());
  EXPECT_FALSE(MakeUser({"+@all", "~*", "&*", "reset"}).MayDoAll());
}

TEST_F(Acl, WrittenFileReadsBackAsTheSameUsers) {
  Users users(commands_);
  const std::vector<std::string> modifiers = {"on", ">x",    "%R~a",    "~b",
                                              "&c", "+@all", "-config", "(+get ~d)"};
  users.Put(MakeUser(modifiers));
  const std::string path = FileWith("");
  ASSERT_TRUE(WriteUsersFile(path, users).ok());
  Users read(commands_);
  ASSERT_TRUE(ReadUsersFile(path, false, read).ok());
  ASSERT_NE(read.Find("u"), nullptr);
  EXPECT_EQ(read.Find("u")->Text(), users.Find("u")->Text());
  EXPECT_EQ(read.default_user().Text(), users.default_user().Text());
}

TEST_F(Acl, EveryErrorInAFileIsReported) {
  const std::string path =
      FileWith("user a on\n\nuser a off\nnonsense\nuser b +nosuch ~x y y\nuser c (+get\n");
  Users users(commands_);
  const absl::Status status = ReadUsersFile(path, false, users);
  EXPECT_EQ(ErrorLine(status),
            "ERR WARNING: Duplicate user 'a' found on line 3. " + path +
                ":4 should start with user keyword followed by the username. " + path +
                ":5: Error in applying operation '+nosuch': Unknown command or category name in "
                "ACL. " +
                path + ":5: Syntax error. " + path +
                ":6: Unmatched parenthesis in selector definition.WARNING: ACL errors detected, no "
                "change to the previously active ACL rules was performed");
}

TEST_F(Acl, UserOfTheConfigurationFileIsDefinedOnce) {
  Users users(commands_);
  EXPECT_TRUE(ReadUserLines({{"a", "on"}, {"default", "on", "+get"}}, false, users).ok());
  EXPECT_FALSE(users.default_user().MayDoAll());
  EXPECT_FALSE(ReadUserLines({{"a", "on"}, {"a", "off"}}, false, users).ok());
  EXPECT_FALSE(ReadUserLines({{"b", "+nosuch"}}, false, users).ok());
}

TEST_F(Acl, EveryKeyAfterAnOptionIsChecked) {
  const User user = MakeUser({"+sort", "~a*"});
  const Command& sort = *commands_.Find("sort");
  const std::vector<std::string_view> last_counts = {"sort", "a", "STORE", "b", "STORE", "a"};
  const std::vector<std::string_view> twice = {"sort", "a", "STORE", "a", "STORE", "b"};
  const std::vector<std::string_view> hidden = {"sort", "a", "STORE", "b", "GET", "store", "a"};
  const std::vector<std::string_view> fine = {"sort", "a", "STORE", "ab"};
  EXPECT_TRUE(user.Check(sort, twice));
  EXPECT_TRUE(user.Check(sort, hidden));
  EXPECT_FALSE(user.Check(sort, last_counts));  // SORT stores only at the last key
  EXPECT_FALSE(user.Check(sort, fine));
}

}  // namespace
}  // namespace zsetd
