#include "server/engine/support/whole_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

// The operations on files, in order: "sync NAME", "rename NAME". The functions below replace those
// of the C library.
std::vector<std::string>& FileSteps() {
  static std::vector<std::string> steps;
  return steps;
}

std::string NameOf(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  return std::filesystem::read_symlink(link).filename();
}

}  // namespace

extern "C" int fsync(int descriptor) {
  FileSteps().push_back("sync " + NameOf(descriptor));
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  FileSteps().push_back("rename " + std::filesystem::path(to).filename().string());
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace zsetd {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public testing::Test {
 protected:
  ReplaceFileTest() {
    std::string name = (fs::temp_directory_path() / "replaceXXXXXX").string();
    directory_ = mkdtemp(name.data());
    path_ = directory_ / "target";
    std::ofstream(path_) << "old";
    FileSteps().clear();
  }
  ~ReplaceFileTest() override { fs::remove_all(directory_); }

  absl::Status Replace(const fs::path& path, std::string_view text) {
    return ReplaceFile(path.string(), text, fs::perms(0640));
  }

  size_t FileCount() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& file : fs::directory_iterator(directory_)) ++count;
    return count;
  }

  static std::string Contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path directory_;
  fs::path path_;
};

TEST_F(ReplaceFileTest, HasTheNewTextAndThePermissions) {
  const std::string text(1 << 20, 'x');
  ASSERT_TRUE(Replace(path_, text).ok());
  EXPECT_EQ(Contents(path_), text);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0640));
  EXPECT_EQ(FileCount(), 1u);
}

// Otherwise a power failure could leave an empty file, or the old one after the command had
// succeeded.
TEST_F(ReplaceFileTest, SyncsTheFileThenRenamesItThenSyncsTheDirectory) {
  ASSERT_TRUE(Replace(path_, "new").ok());
  ASSERT_EQ(FileSteps().size(), 3u);
  EXPECT_TRUE(FileSteps()[0].starts_with("sync target.")) << FileSteps()[0];
  EXPECT_EQ(FileSteps()[1], "rename target");
  EXPECT_EQ(FileSteps()[2], "sync " + directory_.filename().string());
}

TEST_F(ReplaceFileTest, CreatesAMissingFile) {
  ASSERT_TRUE(Replace(directory_ / "another", "new").ok());
  EXPECT_EQ(Contents(directory_ / "another"), "new");
  EXPECT_EQ(Contents(path_), "old");
}

TEST_F(ReplaceFileTest, KeepsALinkAndReplacesWhatItPointsTo) {
  fs::create_symlink(path_, directory_ / "link");
  ASSERT_TRUE(Replace(directory_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(Contents(path_), "new");
}

TEST_F(ReplaceFileTest, LeavesNoTemporaryFileWhenItFails) {
  fs::create_directory(directory_ / "folder");
  std::ofstream(directory_ / "folder" / "file") << "x";
  EXPECT_FALSE(Replace(directory_ / "folder", "new").ok());
  EXPECT_FALSE(Replace(directory_ / "none" / "target", "new").ok());
  EXPECT_EQ(FileCount(), 2u);
  EXPECT_EQ(Contents(path_), "old");
}

}  // namespace
}  // namespace zsetd
