// ACL SAVE and CONFIG REWRITE write every user's rules in a form that is read back as the same
// rules.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/inline_words.h"
#include "server/commands/all_commands.h"
#include "server/engine/acl/acl_file.h"
#include "server/engine/acl/users.h"
#include "server/engine/command/command_table.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

class AclRoundTrip : public testing::Test {
 protected:
  AclRoundTrip() : seed_(std::random_device()()), random_(seed_), commands_(AllCommands()) {}

  template <class Choices>
  std::string OneOf(const Choices& choices) {
    return std::string(choices[random_() % std::size(choices)]);
  }

  std::string RandomBytes() {
    constexpr std::string_view kTelling = " \t\n\r()|~&%*\"'\\#x@";
    std::string bytes;
    for (size_t left = random_() % 6; left > 0; --left) {
      const bool telling = random_() % 2 == 0;
      bytes += telling ? kTelling[random_() % kTelling.size()] : static_cast<char>(random_());
    }
    return bytes;
  }

  std::string RandomRule() {
    constexpr std::string_view kStarts[] = {"+", "-", "+@", "-@", "~", "%R~", "%W~", "%RW~", "&"};
    constexpr std::string_view kNames[] = {"get",        "GET",        "config",
                                           "config|get", "read",       "select",
                                           "vadd",       "commandlog", "commandlog|help",
                                           "save",       "stream",     "commandlog|get",
                                           "*",          "all",        "a"};
    constexpr std::string_view kWhole[] = {"on",
                                           "off",
                                           "nopass",
                                           "resetpass",
                                           "allkeys",
                                           "resetkeys",
                                           "allchannels",
                                           "resetchannels",
                                           "allcommands",
                                           "nocommands",
                                           "clearselectors",
                                           "reset",
                                           "skip-sanitize-payload",
                                           ">p"};
    if (random_() % 4 == 0) return OneOf(kWhole);
    std::string rule = OneOf(kStarts) + OneOf(kNames);
    if (random_() % 3 == 0) rule += "|" + RandomBytes();
    if (random_() % 4 == 0) rule += RandomBytes();
    return rule;
  }

  std::string RandomModifier() {
    if (random_() % 3 != 0) return RandomRule();
    std::string selector = "(";
    for (size_t left = random_() % 4; left > 0; --left) selector += RandomRule() + " ";
    return selector + RandomBytes() + ")";
  }

  // Gives users random rules, of which only some are accepted.
  void Fill(Users& users, bool all_channels) {
    for (int i = 0; i < 60; ++i) {
      const std::string name = random_() % 4 == 0 ? RandomBytes() : OneOf(kNames_);
      const std::string rule = RandomModifier();
      const std::string_view words[] = {rule};
      std::unique_ptr<User> draft;
      if (!users.Draft(name, words, all_channels, draft).ok()) continue;
      users.Put(*draft);
      ++accepted_;
    }
  }

  // Expects equal rules, with the same effect on each command with several first arguments.
  void ExpectSame(const Users& a, const Users& b) {
    ASSERT_EQ(a.all().size(), b.all().size());
    for (const auto& [name, user] : a.all()) {
      const User* other = b.Find(name);
      ASSERT_NE(other, nullptr) << name;
      ASSERT_EQ(user->Text(), other->Text());
      ASSERT_EQ(user->password_hashes(), other->password_hashes());
      for (const Command& command : commands_.rows()) {
        const std::string_view words[] = {command.name, "a", "b", "c", "d"};
        ASSERT_EQ(user->Check(command, words).has_value(), other->Check(command, words).has_value())
            << user->Text() << ": " << command.name;
      }
    }
  }

  const std::string_view kNames_[3] = {"default", "alice", "b)ob"};
  const unsigned seed_;
  std::mt19937 random_;
  CommandTable commands_;
  int accepted_ = 0;
};

TEST_F(AclRoundTrip, ThroughTheAclFile) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  const std::string path = testing::TempDir() + "zsetd_round_trip.acl";
  for (int round = 0; round < 100; ++round) {
    const bool all_channels = round % 2 == 0;
    Users users(commands_);
    Fill(users, all_channels);
    ASSERT_TRUE(WriteUsersFile(path, users).ok());
    Users read(commands_);
    const absl::Status status = ReadUsersFile(path, all_channels, read);
    ASSERT_TRUE(status.ok()) << status;
    ExpectSame(users, read);
  }
  EXPECT_GT(accepted_, 1000);
  std::filesystem::remove(path);
}

TEST_F(AclRoundTrip, ThroughTheConfigurationFile) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  for (int round = 0; round < 100; ++round) {
    const bool all_channels = round % 2 == 0;
    Users users(commands_);
    Fill(users, all_channels);
    std::vector<std::vector<std::string>> lines;
    for (const auto& [name, user] : users.all()) {
      const std::string text = user->Text();
      std::string line;
      for (const std::string_view word : Split(text, ' ')) line += " " + QuoteWord(word);
      lines.push_back(*SplitWords(line));
      lines.back().erase(lines.back().begin());  // "user"
    }
    Users read(commands_);
    const absl::Status status = ReadUserLines(lines, all_channels, read);
    ASSERT_TRUE(status.ok()) << status;
    ExpectSame(users, read);
  }
}

}  // namespace
}  // namespace zsetd
