// Plays transcripts over a socket: transcript_socket_test SERVER TRANSCRIPT... Each transcript is a
// test with its own server.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/server_process.h"
#include "tests/transcript/socket_peer.h"
#include "tests/transcript/transcript_player.h"

namespace zsetd {
namespace {

class TranscriptTest : public testing::Test {
 public:
  TranscriptTest(std::string server, std::string path)
      : server_(std::move(server)), path_(std::move(path)) {}

  void TestBody() override {
    const Transcript transcript = ReadTranscript(path_);
    for (int tries = 1; !PlayOnce(transcript, /*is_last=*/tries == kMostTries); ++tries) {
    }
  }

 private:
  // Time is real here: in a transcript with "PX 20" a machine that stalls loses the key too early.
  // A failure counts only if nothing was late, or if it recurs each time.
  static constexpr int kMostTries = 5;
  static constexpr Millis kPrompt{5};

  // Returns false if the transcript must be played again.
  bool PlayOnce(const Transcript& transcript, bool is_last) const {
    ServerProcess server(server_,
                         transcript.in_cluster
                             ? std::vector<std::string>{"--cluster-enabled", "yes"}
                             : std::vector<std::string>{},
                         transcript.nodes);
    if (!server.running()) return true;
    SocketPeer peer(server.port());
    const auto failures =
        FindFailures(transcript, IsRedis(server_) ? Dialect::kOracle : Dialect::kNewest, peer);
    if (!failures.empty() && !is_last && peer.longest_delay() > kPrompt) return false;
    Report(failures, path_);
    return true;
  }

  const std::string server_;
  const std::string path_;
};

void Register(const std::string& server, const std::string& path) {
  const std::string name = std::filesystem::path(path).stem();
  testing::RegisterTest("Transcript", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [=] { return new TranscriptTest(server, path); });
}

}  // namespace
}  // namespace zsetd

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (count < 3) {
    std::cerr << "usage: transcript_socket_test SERVER TRANSCRIPT...\n";
    return 2;
  }
  for (int i = 2; i < count; ++i) zsetd::Register(words[1], words[i]);
  return RUN_ALL_TESTS();
}
