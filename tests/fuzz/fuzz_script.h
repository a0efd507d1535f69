#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// One event of the server. If there is a client, it sends a request (words), or other bytes, or
// disconnects if there are neither. Without a client, time passes.
struct FuzzStep {
  std::string client;
  std::vector<std::string> words;
  std::string bytes;
  Millis time{0};

  bool IsRequest() const { return !words.empty(); }
  bool IsHangUp() const { return !client.empty() && words.empty() && bytes.empty(); }
  std::string Sent() const;  // the bytes that the server receives
};

using FuzzScript = std::vector<FuzzStep>;

// Returns the steps of a transcript. Omits replies, and requests that change how replies are
// counted (CLIENT REPLY) or limited. Empty if the text is not a transcript, or needs a socket.
FuzzScript ReadFuzzScript(std::string_view text);

// Returns the script as a transcript without replies, to be replayed or kept in tests/fuzz/corpus.
std::string FuzzScriptText(const FuzzScript& script);

}  // namespace zsetd
