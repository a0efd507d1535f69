#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "tests/transcript/transcript.h"

namespace zsetd {

// A server as its clients see it, reached in one way or another. Clients are known by name and
// connect when they first send.
class Peer {
 public:
  virtual ~Peer() = default;

  // Connects `client` if it is not connected (anew, if the server had closed).
  virtual void Send(const std::string& client, std::string_view bytes) = 0;

  // Takes what has come for `client`, at once or as soon as something comes. Empty if nothing came
  // within `patience`, or if the connection is closed.
  virtual std::string Receive(const std::string& client, Millis patience) = 0;

  // Whether the client is not connected: it has not sent anything yet, or Receive() has come to the
  // end of what the server sent before it closed.
  virtual bool Closed(const std::string& client) = 0;

  virtual void Pass(Millis time) = 0;
};

struct TranscriptFailure {
  int line_number = 0;  // 0: after the last line
  std::string text;
};

// Plays the transcript and returns each reply that differs.
std::vector<TranscriptFailure> FindFailures(const Transcript& transcript, Dialect dialect,
                                            Peer& peer);

// Reports the failures to GoogleTest, at their lines of the file at `path`.
void Report(const std::vector<TranscriptFailure>& failures, const std::string& path);

// Plays the transcript and reports each reply that differs as a GoogleTest failure, at its
// line of the file at `path`.
void Play(const Transcript& transcript, std::string_view path, Dialect dialect, Peer& peer);

// The conversation in the file at `path`. What is wrong with the file is a GoogleTest failure, and
// the conversation is then empty.
Transcript ReadTranscript(const std::string& path);

}  // namespace zsetd
