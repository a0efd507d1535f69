#pragma once

#include "server/engine/acl/access_control.h"
#include "server/engine/client/caller.h"

namespace zsetd {

// The shared state of the commands of one run of a script. They run for a caller without a
// connection, as its address shows: its database and protocol are the script's, its user is that of
// the script's caller. Their replies are written to `caller.replies`. The session is used for one
// run after another.
struct ScriptSession {
  ScriptSession() : caller(0, "?:0", "") {}

  // Makes it the session of a new run.
  void Begin(const Caller& script_caller) {
    caller.reply.set_protocol(Protocol::kResp2);
    caller.database = script_caller.database;
    AccessControl::ActAs(caller, *script_caller.user());
    caller.no_touch = script_caller.no_touch;
    read_only = false;
    may_exceed_memory = false;
    memory_was_short = false;
    may_use_several_slots = false;
    has_written = false;
    has_computed_long = false;
  }

  // Ends the run: frees a buffer that most runs do not need.
  void End() {
    constexpr size_t kMostIdleBytes = 64u << 10;
    if (caller.replies.capacity() > kMostIdleBytes) caller.replies = OutputBuffer();
  }

  Caller caller;
  bool read_only = false;              // refuse commands that write
  bool may_exceed_memory = false;      // run those that may take memory although it is short
  bool memory_was_short = false;       // when the script began
  bool may_use_several_slots = false;  // of a cluster
  bool has_written = false;            // a command that writes has run
  bool has_computed_long = false;      // since its last command
};

}  // namespace zsetd
