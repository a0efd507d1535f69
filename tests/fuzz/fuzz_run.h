#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/engine/propagation/journal.h"
#include "tests/fuzz/fuzz_script.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {

// Plays a script to an engine of its own and holds what comes back, and what the engine then keeps,
// against what always holds:
//
//   - all that a client is told is replies and messages, each well-formed and whole;
//   - a request is answered once, before the next, unless it waits or the client listens;
//   - what it keeps holds together (data_check.h);
//   - what is propagated is whole requests, between MULTI and EXEC if there are several;
//   - of clients that have disconnected nothing is left: no wait, no tracked key or prefix.
class FuzzRun {
 public:
  FuzzRun();
  ~FuzzRun();

  // What was wrong, in words; empty if nothing was.
  std::string Play(const FuzzScript& script);

 private:
  std::string Send(const FuzzStep& step);
  std::string HangUp(const std::string& client);
  std::string HearAll();

  // Holds each unit of what is propagated against what a log may hold.
  class UnitCheck : public Journal {
   public:
    uint64_t Append(OutputBuffer& unit) override;
    const std::string& wrong() const { return wrong_; }

   private:
    std::string wrong_;
    uint64_t units_ = 0;
  };

  UnitCheck units_;
  EnginePeer peer_;
  std::map<std::string, bool> speaks_whole_;  // whether a client has sent nothing but requests
  std::map<std::string, size_t> answers_;     // to the last step, by client
};

}  // namespace zsetd
