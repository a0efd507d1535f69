#pragma once

#include "server/engine/client/client.h"

namespace zsetd {

// What the commands of one run of a script have in common. They run for a client of their own,
// which no connection belongs to: its database and protocol are the script's, its user that of the
// caller. Their replies come to `client.output`.
struct ScriptSession {
  ScriptSession(const Client& caller, Millis now)
      : client(0, "lua", caller.local_address, now, [] {}) {
    client.database = caller.database;
    client.user = caller.user;
    client.authenticated = caller.authenticated;
    client.no_touch = caller.no_touch;
    client.in_script = true;
  }

  Client client;
  bool read_only = false;          // refuse commands that write
  bool may_exceed_memory = false;  // run those that may take memory although it is short
  bool memory_was_short = false;   // when the script began
  bool has_written = false;        // a command that writes has run
  bool has_computed_long = false;  // since its last command
};

}  // namespace zsetd
