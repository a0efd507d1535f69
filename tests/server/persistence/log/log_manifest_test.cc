#include "server/persistence/log/log_manifest.h"

#include <gtest/gtest.h>

#include "server/engine/support/errors.h"
#include "tests/support/memory_files.h"

namespace zsetd {
namespace {

std::string Refused(std::string_view text) {
  const absl::StatusOr<LogManifest> manifest = ParseManifest(text);
  return manifest.ok() ? "" : std::string(ErrorLine(manifest.status()));
}

TEST(LogManifest, ReadsRedissManifest) {
  const auto manifest = ParseManifest(
      "# a comment\n"
      "file appendonly.aof.2.base.rdb seq 2 type b\n"
      "file appendonly.aof.1.incr.aof seq 1 type h\n"
      "file \"with space.3.incr.aof\" seq 3 type i startoffset 7\n"
      "file appendonly.aof.4.incr.aof seq 4 type i\n");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->base, (LogFile{"appendonly.aof.2.base.rdb", 2}));
  EXPECT_EQ(manifest->incremental,
            (std::vector<LogFile>{{"with space.3.incr.aof", 3}, {"appendonly.aof.4.incr.aof", 4}}));
  EXPECT_EQ(manifest->history, (std::vector<LogFile>{{"appendonly.aof.1.incr.aof", 1}}));
  EXPECT_EQ(manifest->LastNumber(), 4u);
}

TEST(LogManifest, TextIsReadBack) {
  const LogManifest manifest = {.base = LogFile{"a \"b\".1.base.rdb", 1},
                                .incremental = {{"a.1.incr.aof", 1}, {"a.2.incr.aof", 2}},
                                .history = {{"a.0.incr.aof", 7}}};
  const auto read = ParseManifest(ManifestText(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, manifest);
}

// Redis removes all history files.
TEST(LogManifest, TheTextNamesNoNeededFileAsHistory) {
  const LogFile base = {"a.1.base.rdb", 1};
  const LogFile incremental = {"a.1.incr.aof", 1};
  const LogFile old = {"a.0.incr.aof", 1};
  const LogManifest manifest = {
      .base = base, .incremental = {incremental}, .history = {base, old, incremental}};
  const auto read = ParseManifest(ManifestText(manifest));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, (LogManifest{.base = base, .incremental = {incremental}, .history = {old}}));
}

TEST(LogManifest, RefusesDamagedManifests) {
  EXPECT_EQ(Refused(""), "the manifest names no file");
  EXPECT_EQ(Refused("file a seq 1 type b"), "line 1: the line feed is missing");
  EXPECT_EQ(Refused("file a seq 1 type\n"), "line 1: not a list of fields and values");
  EXPECT_EQ(Refused("file a seq 0 type b\n"), "line 1: the number of the file is wrong");
  EXPECT_EQ(Refused("file a seq 9x type b\n"), "line 1: the number of the file is wrong");
  EXPECT_EQ(Refused("file ../a seq 1 type b\n"),
            "line 1: the name of the file is missing or is a path");
  EXPECT_EQ(Refused("file a seq 1 type b\nfile b seq 2 type b\n"),
            "line 2: the file's type or order is wrong");
  EXPECT_EQ(Refused("file a seq 2 type i\nfile b seq 2 type i\n"),
            "line 2: the file's type or order is wrong");
  EXPECT_EQ(Refused("file a seq 1 type x\n"), "line 1: the file's type or order is wrong");
}

TEST(LogManifest, IsWrittenAtomically) {
  MemoryFiles files;
  const LogManifest first = {.base = LogFile{"a.1.base.rdb", 1}};
  const LogManifest second = {.base = LogFile{"a.2.base.rdb", 2}};
  bool is_uncertain = true;
  ASSERT_TRUE(WriteManifest(files, "/log", "m", first, is_uncertain).ok());
  EXPECT_FALSE(is_uncertain);
  const size_t before = files.operations().size();
  ASSERT_TRUE(WriteManifest(files, "/log", "m", second, is_uncertain).ok());
  for (size_t count = before; count <= files.operations().size(); ++count) {
    for (const MemoryFiles::Contents& disk : files.CrashStates(count)) {
      const auto read = ParseManifest(disk.at("/log/m"));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_TRUE(*read == second || (*read == first && count < files.operations().size()));
    }
  }
}

}  // namespace
}  // namespace zsetd
