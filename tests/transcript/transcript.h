#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "tests/transcript/transcript_reply.h"

namespace zsetd {

// Whose answers a conversation is held to. Redis 7.0.15 is the oracle where the newest Redis, which
// zsetd follows, still does as it did.
enum class Dialect { kNewest, kOracle };

struct Step {
  enum class Kind {
    kSend,  // `client` sends `bytes`, then hears what is expected
    kHear,  // `client` hears what is expected without having asked
    kPass,  // `time` passes
  };
  Kind kind = Kind::kSend;
  int line_number = 0;
  std::string line;
  std::string client;
  std::string bytes;
  Millis time{0};
  Expectation expected;
  Expectation oracle;  // what 7.0.15 says instead; empty if it says the same

  const Expectation& Expected(Dialect dialect) const;
};

// A conversation with a server: who sends what, and the exact bytes that come back.
// tests/transcripts/README.md has the format.
struct Transcript {
  int protocol = 2;
  bool needs_socket = false;  // of what happens to connections: not to be played in process
  std::vector<Step> steps;
};

// The conversation that a file's text tells. The error names the line.
absl::StatusOr<Transcript> ParseTranscript(std::string_view text);

// A request as a client library sends it.
std::string Multibulk(const std::vector<std::string>& words);

}  // namespace zsetd
