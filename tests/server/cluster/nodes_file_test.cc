#include "server/cluster/nodes_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

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

  std::string folder_;
};

TEST_F(NodesFileTest, LoadsWhatWasSaved) {
  {
    NodesFile file(path());
    const auto none = file.Load();
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_EQ(*none, std::nullopt);
    ASSERT_TRUE(file.Save("one\n", true).ok());
    ASSERT_TRUE(file.Save("two\n", false).ok());
  }
  NodesFile again(path());
  EXPECT_EQ(**again.Load(), "two\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "no drafts";
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
