#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/engine/engine.h"
#include "server/http/main_thread.h"

namespace zsetd {

// Read-only commands, and the user that sends them.
struct PageRequest {
  std::string user;
  std::string password;
  std::string peer;         // the address, as CLIENT LIST and ACL LOG show it
  std::string own;          // the server's end
  bool is_local = false;    // the peer is on this machine
  bool by_own_name = true;  // the URL names this server, and is not another site's
  std::vector<std::vector<std::string>> commands;
};

// Their replies, in order, in RESP2; the reply of a command without permission is an error.
struct PageReplies {
  enum class Access { kGranted, kDenied, kProtected };

  Access access = Access::kDenied;  // unless it is granted, no command was run
  std::vector<std::string> replies;
};

// The most that is run and replied for one request.
inline constexpr size_t kMostPageCommands = 512;
inline constexpr size_t kMostPageReplyBytes = 4 << 20;  // then the other commands reply an error

// Runs the commands as a client of their own, a step each on the thread of the commands. The client
// logs in as the user first, and what it may do is what that user may. Beyond that, rows decide
// (MayRunOnPage). A user who needs no password is let in as `protected-mode` has it, and only by a
// URL that names this server: another site could have its own name resolve to this machine.
//
// `done` is called on the thread of the commands.
void RunPageCommands(Engine& engine, std::shared_ptr<const PageRequest> request,
                     const PostStep& post, std::function<void(PageReplies)> done);

// Whether the command only reads: its row is read-only, and it neither blocks nor runs a script; or
// it shows the state of the server, without secrets.
bool MayRunOnPage(const Command& command);

}  // namespace zsetd
