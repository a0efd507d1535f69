#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"
#include "tests/transcript/transcript.h"

namespace zsetd {

// A server as its clients see it, over a socket or in process. Clients are known by name and
// connect when they first send.
class Peer {
 public:
  virtual ~Peer() = default;

  // Connects `client` if it is not connected, also after the server has closed its connection.
  virtual void Send(const std::string& client, std::string_view bytes) = 0;

  // Takes the bytes that have arrived for `client`, or the first ones to arrive. Empty if none
  // arrive within `patience`, or if the connection is closed.
  virtual std::string Receive(const std::string& client, Millis patience) = 0;

  // Returns whether the client is not connected: it has not sent anything yet, or Receive() has
  // returned all bytes that the server sent before it closed.
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

// Returns the conversation in the file at `path`. An error in the file is a GoogleTest failure; the
// conversation is then empty.
Transcript ReadTranscript(const std::string& path);

}  // namespace zsetd
