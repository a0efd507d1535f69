#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/admin_call.h"

namespace zsetd {

class Engine;
struct Command;

// One run of a command, from its first instruction until its statistics are recorded. Permissions
// and other reasons to refuse the command were checked before, and its unit is open. Lives on the
// stack, except while a script is suspended: then SuspendedUnit continues the command as a new run.
class CommandRun {
 public:
  // The party that requested the command, which decides the consequences of the run.
  enum class Origin : uint8_t {
    kRequest,    // a client, immediately or through MULTI
    kServed,     // a client whose wait ends (BlockedRunner)
    kScript,     // a script
    kReplayed,   // a log that is loaded
    kReplicated  // a master
  };

  enum class Result : uint8_t {
    kDone,      // it has replied
    kWaits,     // its client waits until it can be served
    kSuspended  // its script continues later
  };

  struct Request {
    Caller& caller;
    const Command& command;
    Args argv;
  };

  // All that is referred to outlives it. `took` is the time that the command has run before, if it
  // has waited or was suspended; `ready_key` is the key that ended its wait.
  CommandRun(Engine& engine, Origin origin, const Request& request, Micros took = Micros(0),
             std::optional<std::string_view> ready_key = std::nullopt)
      : engine_(engine),
        origin_(origin),
        call_(engine, request.caller, request.command, request.argv, ready_key),
        reader_(&request.caller),
        took_(took) {}

  // For commands of a script: the caller whose script it is. Their reads count as its own for
  // CLIENT TRACKING and for held replies (ReplyHolds).
  void set_reader(Caller& reader) { reader_ = &reader; }

  // Runs the command.
  Result Run();

  // Continues a script that is suspended, for another slice.
  Result Resume();

  // How long the command has run, in all its runs.
  Micros took() const { return took_; }

  AdminCall& call() { return call_; }

 private:
  void RunAndPropagate();
  Result EndSlice();
  void RememberReads();
  void Record();

  Engine& engine_;
  const Origin origin_;
  AdminCall call_;
  Caller* reader_;
  Micros took_;
};

}  // namespace zsetd
