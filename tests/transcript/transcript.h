#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "tests/transcript/transcript_reply.h"

namespace zsetd {

// Selects the expected replies. zsetd follows the newest Redis. The oracle is Redis 7.0.15, whose
// replies are listed where they differ.
enum class Dialect { kNewest, kOracle };

struct Step {
  enum class Kind {
    kSend,  // `client` sends `bytes`, then receives the expected reply
    kHear,  // `client` receives the expected bytes without a request
    kPass,  // `time` passes
  };
  Kind kind = Kind::kSend;
  int line_number = 0;
  std::string line;
  std::string client;
  std::string bytes;
  Millis time{0};
  Expectation expected;
  Expectation oracle;  // the different reply of 7.0.15; empty if it is the same

  const Expectation& Expected(Dialect dialect) const;
};

// A conversation with a server: the bytes that each client sends, and the exact bytes that it
// receives. tests/transcripts/README.md has the format.
struct Transcript {
  int protocol = 2;
  bool needs_socket = false;  // about connections: cannot be played in process
  bool in_cluster = false;    // the server is a node of a cluster
  std::string nodes;          // its nodes.conf; empty: it starts without one
  std::vector<Step> steps;
};

// Parses a transcript. The error names the line.
absl::StatusOr<Transcript> ParseTranscript(std::string_view text);

// Encodes a request like a client library.
std::string Multibulk(const std::vector<std::string>& words);

}  // namespace zsetd
