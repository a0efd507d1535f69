#include "server/cluster/nodes_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

class NodesFileTest : public testing::Test {
 protected:
  NodesFileTest() {
    std::string folder = testing::TempDir() + "zsetd-nodes-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~NodesFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/nodes.conf"; }
  std::string journal_path() const { return path() + ".unsynced"; }

  static std::string Contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  static void Write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::trunc) << text;
  }

  std::string folder_;
};

TEST_F(NodesFileTest, LoadsWhatWasSaved) {
  {
    NodesFile file(path());
    const auto none = file.Load();
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_EQ(*none, std::nullopt);
    ASSERT_TRUE(file.Save("one\n", true).ok());
    ASSERT_TRUE(file.Save("two\n", true).ok());
  }
  NodesFile again(path());
  EXPECT_EQ(**again.Load(), "two\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no drafts";
}

TEST_F(NodesFileTest, LoadsTheLastTextThatWasNotSynced) {
  {
    NodesFile file(path());
    ASSERT_TRUE(file.Load().ok());
    ASSERT_TRUE(file.Save("one\n", true).ok());
    ASSERT_TRUE(file.Save("two\n", false).ok());
    ASSERT_TRUE(file.Save("three\n", false).ok());
  }
  EXPECT_EQ(Contents(path()), "one\n");
  NodesFile again(path());
  EXPECT_EQ(**again.Load(), "three\n");
  ASSERT_TRUE(again.Save("three\n", true).ok());
  EXPECT_EQ(Contents(path()), "three\n");
  EXPECT_EQ(Contents(journal_path()), "");
}

// Each prefix is what a power failure may leave.
TEST_F(NodesFileTest, IgnoresTheIncompleteEndOfTheJournal) {
  {
    NodesFile file(path());
    ASSERT_TRUE(file.Load().ok());
    ASSERT_TRUE(file.Save("one\n", true).ok());
    ASSERT_TRUE(file.Save("two\n", false).ok());
    ASSERT_TRUE(file.Save("three\n", false).ok());
  }
  const std::string whole = Contents(journal_path());
  const size_t second = whole.find("two\n") + 4;
  for (size_t length = 0; length <= whole.size(); ++length) {
    Write(journal_path(), whole.substr(0, length));
    const std::string expected = length < second         ? "one\n"
                                 : length < whole.size() ? "two\n"
                                                         : "three\n";
    EXPECT_EQ(**NodesFile(path()).Load(), expected) << "after " << length << " bytes";
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = '\0';
    Write(journal_path(), damaged);
    EXPECT_EQ(**NodesFile(path()).Load(), at < second ? "one\n" : "two\n") << "byte " << at;
  }
}

// For example, an administrator has changed an address in nodes.conf.
TEST_F(NodesFileTest, IgnoresTheJournalOfAnotherText) {
  {
    NodesFile file(path());
    ASSERT_TRUE(file.Load().ok());
    ASSERT_TRUE(file.Save("one\n", true).ok());
    ASSERT_TRUE(file.Save("two\n", false).ok());
  }
  Write(path(), "edited\n");
  EXPECT_EQ(**NodesFile(path()).Load(), "edited\n");
}

TEST_F(NodesFileTest, SyncsWhatTheJournalCannotTake) {
  NodesFile file(path());
  ASSERT_TRUE(file.Load().ok());
  ASSERT_TRUE(file.Save("before the first sync\n", false).ok());
  EXPECT_EQ(Contents(path()), "before the first sync\n");
  std::filesystem::create_directory(journal_path());
  ASSERT_TRUE(file.Save("two\n", false).ok());
  EXPECT_EQ(Contents(path()), "two\n");
  std::filesystem::remove(journal_path());
  const std::string large(16 << 20, 'x');
  ASSERT_TRUE(file.Save(large, false).ok());
  EXPECT_EQ(Contents(path()), large);
}

TEST_F(NodesFileTest, AfterAFailedSyncThePresentFileDecides) {
  NodesFile file(path());
  ASSERT_TRUE(file.Load().ok());
  ASSERT_TRUE(file.Save("one\n", true).ok());
  ASSERT_TRUE(file.Save("two\n", false).ok());
  std::filesystem::remove(path());
  std::filesystem::create_directories(path() + "/folder");
  EXPECT_FALSE(file.Save("three\n", true).ok());
  EXPECT_FALSE(file.Save("four\n", false).ok()) << "a record could have an unknown base";
  std::filesystem::remove_all(path());
  EXPECT_TRUE(file.Save("five\n", false).ok());
  EXPECT_EQ(Contents(path()), "five\n");
  EXPECT_EQ(Contents(journal_path()), "");
}

TEST_F(NodesFileTest, IsLockedBeforeAndAfterASave) {
  NodesFile file(path());
  ASSERT_TRUE(file.Load().ok());
  EXPECT_FALSE(NodesFile(path()).Load().ok());
  ASSERT_TRUE(file.Save("text\n", true).ok());
  const auto refused = NodesFile(path()).Load();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(ErrorLine(refused.status()).find("is already used by a different server"),
            std::string_view::npos);
}

TEST_F(NodesFileTest, ReportsThatItCannotBeWritten) {
  NodesFile file(folder_ + "/missing/nodes.conf");
  EXPECT_FALSE(file.Load().ok());
}

}  // namespace
}  // namespace zsetd
