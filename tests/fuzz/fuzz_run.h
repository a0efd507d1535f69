#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/engine/propagation/journal.h"
#include "tests/fuzz/fuzz_script.h"
#include "tests/transcript/engine_peer.h"

namespace zsetd {

// Plays a script to a separate engine. Checks the output and the engine's data against these
// invariants:
//
// - a client receives only replies and messages, each well-formed and complete;
// - a request gets one reply, before the next one, unless it waits or the client is subscribed;
// - the engine's data is consistent (data_check.h);
// - only complete requests are propagated, between MULTI and EXEC if there are several;
// - no state of disconnected clients remains: no wait, no tracked key or prefix.
//
// Time passes while scripts run. A script that does not end is killed.
class FuzzRun {
 public:
  FuzzRun();
  ~FuzzRun();

  // Returns the violation in words; empty if nothing is wrong. Stops at a script that does not end
  // and cannot be killed, because it has written.
  std::string Play(const FuzzScript& script);

 private:
  std::string Send(const FuzzStep& step);
  std::string HangUp(const std::string& client);
  std::string HearAll();

  // Ends the suspended script, if there is one. Returns false if it has not ended.
  bool EndsScript();

  // Checks that each propagated unit is valid in a log.
  class UnitCheck : public Journal {
   public:
    uint64_t Append(OutputBuffer& unit) override;
    const std::string& wrong() const { return wrong_; }

   private:
    std::string wrong_;
    uint64_t units_ = 0;
  };

  UnitCheck units_;
  Micros stopwatch_{0};
  EnginePeer peer_;
  std::map<std::string, bool> speaks_whole_;  // whether a client has sent only complete requests
  std::map<std::string, size_t> answers_;     // to the last step, by client
};

}  // namespace zsetd
