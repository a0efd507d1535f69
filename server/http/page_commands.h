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
  bool has_login = true;    // the request contained a user and a password
  std::string peer;         // the client's address, as CLIENT LIST and ACL LOG show it
  std::string own;          // the server's end
  bool is_local = false;    // the peer is on this machine
  bool by_own_name = true;  // the URL names this server, not another site
  std::vector<std::vector<std::string>> commands;
};

// The replies in order, in RESP2. A command without permission has an error as its reply.
struct PageReplies {
  enum class Access { kGranted, kDenied, kProtected };

  Access access = Access::kDenied;  // if it is not kGranted, no command was run
  std::vector<std::string> replies;
};

// The limits of one request. Beyond the bytes, the remaining commands reply an error.
inline constexpr size_t kMostPageCommands = 512;
inline constexpr size_t kMostPageReplyBytes = 4 << 20;

// Runs the commands as a new client, one per step on the thread of the commands. The client logs in
// as the user first, and has the permissions of that user. In addition, MayRunOnPage() must allow
// each command.
//
// A request without a login is refused, without an entry in the ACL log, if the default user needs
// a password. A user without a password must meet the conditions of `protected-mode`, and use a URL
// that names this server. Otherwise another site could make its own name resolve to this machine.
//
// `done` is called on the thread of the commands.
void RunPageCommands(Engine& engine, std::shared_ptr<const PageRequest> request,
                     const PostStep& post, std::function<void(PageReplies)> done);

// Whether the page may run the command. Its row must be read-only, and it must neither block nor
// run a script. Some commands that show the state of the server without secrets are allowed, too.
bool MayRunOnPage(const Command& command);

}  // namespace zsetd
