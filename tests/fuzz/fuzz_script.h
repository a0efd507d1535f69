#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/time.h"

namespace zsetd {

// One thing that happens to the server: a client sends a request or, if it has no words, other
// bytes or, if it has none of these either, disconnects; or, without a client, time passes.
struct FuzzStep {
  std::string client;
  std::vector<std::string> words;
  std::string bytes;
  Millis time{0};

  bool IsRequest() const { return !words.empty(); }
  bool IsHangUp() const { return !client.empty() && words.empty() && bytes.empty(); }
  std::string Sent() const;  // what goes to the server
};

using FuzzScript = std::vector<FuzzStep>;

// What a transcript sends; its replies are left out, and so is what would change the rules by which
// replies are counted (CLIENT REPLY) or limited. Empty if the text is no transcript, or one that
// needs a socket.
FuzzScript ReadFuzzScript(std::string_view text);

// The same as a transcript without replies, to be played again or kept in tests/fuzz/corpus.
std::string FuzzScriptText(const FuzzScript& script);

}  // namespace zsetd
