#pragma once

#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"

namespace zsetd {

// What the commands of one run of a script have in common. They run for a client of their own,
// which no connection belongs to, as its address says: its database and protocol are the script's,
// its user that of the caller. Their replies come to `client.output.buffer`. It is used for one run
// after the other.
struct ScriptSession {
  ScriptSession() : client(0, "?:0", "", Millis(0), [] {}) { client.in_script = true; }

  // Makes it the session of a new run.
  void Begin(const Client& caller) {
    client.output.reply.set_protocol(Protocol::kResp2);
    client.database = caller.database;
    AccessControl::ActAs(client, *caller.identity.user());
    client.no_touch = caller.no_touch;
    read_only = false;
    may_exceed_memory = false;
    memory_was_short = false;
    has_written = false;
    has_computed_long = false;
  }

  // The run is over: frees a buffer that most runs do not need.
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
