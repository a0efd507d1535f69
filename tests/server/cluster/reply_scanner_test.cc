#include "server/cluster/migration/reply_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/util/rng.h"

namespace zsetd {
namespace {

using Result = ReplyScanner::Result;

// The errors of all replies in the bytes, handed over in pieces; then whether they broke.
std::vector<std::string> ErrorsIn(std::string_view bytes, size_t piece, bool& is_broken) {
  ReplyScanner scanner;
  std::vector<std::string> errors;
  is_broken = false;
  while (!bytes.empty() && !is_broken) {
    std::string_view some = bytes.substr(0, piece);
    bytes.remove_prefix(some.size());
    while (!some.empty() && !is_broken) {
      const Result result = scanner.Next(some);
      is_broken = result == Result::kBroken;
      if (result == Result::kReply) errors.push_back(scanner.error());
    }
  }
  return errors;
}

TEST(ReplyScanner, FindsEachReplyAndItsFirstError) {
  const std::string bytes =
      "+OK\r\n:1\r\n$5\r\n-ERR\n\r\n$-1\r\n$0\r\n\r\n-ERR one\r\n*-1\r\n*0\r\n"
      "*3\r\n+OK\r\n*2\r\n-OOM two\r\n-ERR three\r\n$1\r\nx\r\n+QUEUED\r\n";
  const std::vector<std::string> expected = {"", "", "", "", "", "ERR one", "", "", "OOM two", ""};
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    bool is_broken = false;
    EXPECT_EQ(ErrorsIn(bytes, piece, is_broken), expected) << piece;
    EXPECT_FALSE(is_broken);
  }
}

TEST(ReplyScanner, RefusesWhatIsNoReply) {
  for (const std::string bytes : {"OK\r\n", "+OK\n", "$x\r\n", "$-2\r\n", "*9999999999\r\n",
                                  "$99999999999\r\n", "\r\n", "*\r\n", "%1\r\n"}) {
    bool is_broken = false;
    ErrorsIn(bytes, bytes.size(), is_broken);
    EXPECT_TRUE(is_broken) << bytes;
  }
  bool is_broken = false;
  ErrorsIn(std::string(1 << 20, '+'), 4096, is_broken);
  EXPECT_TRUE(is_broken) << "a line without an end takes no memory";
}

TEST(ReplyScanner, SurvivesAnyBytes) {
  constexpr std::string_view kBytes = "+-:$*019\r\n";
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    std::string bytes;
    for (int i = 0; i < 200; ++i) bytes += kBytes[rng.Below(kBytes.size())];
    bool is_broken = false;
    ErrorsIn(bytes, 1 + rng.Below(50), is_broken);
  }
}

}  // namespace
}  // namespace zsetd
