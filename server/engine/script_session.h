#pragma once

#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"

namespace zsetd {

// The shared state of the commands of one run of a script. They run for a client without a
// connection, as its address shows: its database and protocol are the script's, its user is the
// caller's. Their replies are written to `client.output.buffer`. The session is used for one run
// after another.
struct ScriptSession {
  ScriptSession() : client(0, "?:0", "", Millis(0), [] {}) { client.in_script = true; }

  // Makes it the session of a new run.
  void Begin(const Client& caller) {
    client.reply.set_protocol(Protocol::kResp2);
    client.database = caller.database;
    AccessControl::ActAs(client, *caller.user());
    client.no_touch = caller.no_touch;
    read_only = false;
    may_exceed_memory = false;
    memory_was_short = false;
    has_written = false;
    has_computed_long = false;
  }

  // Ends the run: frees a buffer that most runs do not need.
  void End() {
    constexpr size_t kMostIdleBytes = 64u << 10;
    if (client.output.buffer.capacity() > kMostIdleBytes) client.output.buffer = OutputBuffer();
  }

  Client client;
  bool read_only = false;          // refuse commands that write
  bool may_exceed_memory = false;  // run those that may take memory although it is short
  bool memory_was_short = false;   // when the script began
  bool has_written = false;        // a command that writes has run
  bool has_computed_long = false;  // since its last command
};

}  // namespace zsetd
