// Plays transcripts in process, with a hand-moved clock: transcript_engine_test TRANSCRIPT...

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/transcript/engine_peer.h"
#include "tests/transcript/transcript_player.h"

namespace zsetd {
namespace {

class TranscriptTest : public testing::Test {
 public:
  explicit TranscriptTest(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    const Transcript transcript = ReadTranscript(path_);
    if (transcript.needs_socket) GTEST_SKIP() << "needs a socket";
    Settings settings = EnginePeer::OpenSettings();
    settings.cluster_enabled = transcript.in_cluster;
    EnginePeer peer(settings, transcript.nodes);
    Play(transcript, path_, Dialect::kNewest, peer);
  }

 private:
  const std::string path_;
};

void Register(const std::string& path) {
  const std::string name = std::filesystem::path(path).stem();
  testing::RegisterTest("Transcript", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [=] { return new TranscriptTest(path); });
}

}  // namespace
}  // namespace zsetd

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (count < 2) {
    std::cerr << "usage: transcript_engine_test TRANSCRIPT...\n";
    return 2;
  }
  for (int i = 1; i < count; ++i) zsetd::Register(words[i]);
  return RUN_ALL_TESTS();
}
