#include "server/persistence/file/drafts.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/support/memory_files.h"

namespace zsetd {
namespace {

TEST(Drafts, HaveTheirOwnNames) {
  for (const std::string_view ending : kDraftEndings) {
    EXPECT_TRUE(IsDraftName(DraftName(1, ending))) << ending;
  }
  EXPECT_TRUE(IsDraftName("temp-zsetd-replication-1.rdb"));
  EXPECT_TRUE(IsDraftName("temp-zsetd-replication-12.rdb.part"));
  for (const char* const name :
       {"temp-zsetd-", "temp-zsetd-x.rdb", "temp-zsetd-1.rdb", "temp-zsetd-1-.rdb",
        "temp-zsetd--1.rdb", "temp-zsetd-1-1", "temp-zsetd-1-1.aof", "temp-zsetd-1-1.rdb.acl",
        "temp-zsetd-1-1x.rdb", "x-temp-zsetd-1-1.rdb", "temp-1-1.rdb", "users.acl", ""}) {
    EXPECT_FALSE(IsDraftName(name)) << name;
  }
}

TEST(Drafts, OtherFilesAreNotRemoved) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr std::string_view kBytes = "019-.rdbx";
  MemoryFiles files;
  MemoryFiles::Contents kept;
  files.set_contents("/data/" + DraftName(7, ".rdb"), "half");
  for (int i = 0; i < 1000; ++i) {
    std::string name(kDraftPrefix);
    while (random() % 6 != 0) name += kBytes[random() % kBytes.size()];
    if (IsDraftName(name)) continue;
    kept["/data/" + name] = "whole";
    files.set_contents("/data/" + name, "whole");
  }
  RemoveDrafts(files, "/data");
  EXPECT_EQ(files.contents(), kept);
}

}  // namespace
}  // namespace zsetd
