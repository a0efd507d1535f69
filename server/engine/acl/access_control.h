#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/acl/acl_selector.h"
#include "server/engine/acl/users.h"
#include "server/engine/client/client.h"
#include "server/engine/config/settings.h"
#include "server/engine/metrics/stats.h"

namespace zsetd {

class AclLog;

// Access control: the users, the user of each client, and the log of denials.
//
// Invariant: every attached client is one of these users.
class AccessControl {
 public:
  using Clients = std::map<uint64_t, Client*>;

  // `close` ends a client's connection, after its own command if one is running. The
  // referenced objects outlive this.
  AccessControl(const CommandTable& commands, const Clients& clients, const Settings& settings,
                Stats& stats, std::function<void(Client&)> close);
  ~AccessControl();

  // Makes a new client the default user; it is authenticated if that user needs no password.
  void AssignDefaultUser(Client& client) const;

  // Gives a caller that is no attached client the permissions of `user`.
  static void ActAs(Caller& internal, const User& user);

  // Whether the caller must authenticate before it may run commands.
  bool MustAuthenticate(const Caller& caller) const {
    return !caller.authenticated() && !DefaultIsOpen();
  }
  bool DefaultIsOpen() const;

  // Makes the client the user of this name, if the password is right; if not, that is logged.
  // `command` is the name of the command it used.
  bool Authenticate(Client& client, std::string_view name, std::string_view password,
                    std::string_view command, Millis now);

  // Why the client's user may not run this request, which has been checked for its shape; it is
  // logged then. For a user without restrictions the cost is one test.
  std::optional<Denial> Check(Client& client, const Command& command, Args argv, Millis now) {
    if (client.user()->MayDoAll()) [[likely]] {
      return std::nullopt;
    }
    return CheckRules(client, command, argv, now, ContextOf(client));
  }

  // Whether Check() would permit it. Changes nothing.
  static bool Permits(const Client& client, const Command& command, Args argv) {
    return client.user()->MayDoAll() || !client.user()->Check(command, argv);
  }

  // Like Check(), for a request of a script that `caller` has called.
  std::optional<Denial> CheckInScript(Caller& caller, const Command& command, Args argv,
                                      Millis now) {
    if (caller.user()->MayDoAll()) [[likely]] {
      return std::nullopt;
    }
    assert(caller.client() != nullptr);  // journals are applied without restrictions
    return CheckRules(*caller.client(), command, argv, now, DenialContext::kScript);
  }

  // ACL SETUSER. An error is the whole error line. Closes the user's clients that are subscribed to
  // channels which are not permitted any more.
  absl::Status SetUser(std::string_view name, Args modifiers);

  // ACL DELUSER; not the default user. Closes the user's clients. False if the user does not exist.
  bool DeleteUser(std::string_view name);

  // Replaces all users by those of `others`. Closes clients as the two above do.
  void Replace(const Users& others);

  // At the start: takes the users of the ACL file, or those of the configuration file. An error is
  // human-readable.
  absl::Status LoadConfigured();

  // ACL LOAD, ACL SAVE: reads the ACL file, and takes its users if nothing is wrong with them; or
  // writes it. An error is the whole error line.
  absl::Status LoadFile();
  absl::Status SaveFile() const;

  // All users as lines for the configuration file; none if they are in a file of their own.
  std::vector<std::vector<std::string>> UserLines() const;

  // Returns the lines that a server would have after a start with these settings, or none if it
  // could not start.
  std::vector<std::vector<std::string>> UserLinesOf(const Settings& configured) const;

  void SetDefaultPassword(std::string_view password) { users_.SetDefaultPassword(password); }

  const Users& users() const { return users_; }
  AclLog& log() { return *log_; }

 private:
  static DenialContext ContextOf(const Client& client) {
    return client.transaction.open ? DenialContext::kTransaction : DenialContext::kTopLevel;
  }
  std::optional<Denial> CheckRules(Client& client, const Command& command, Args argv, Millis now,
                                   DenialContext context);
  void Record(const Client& client, const Denial& denial, std::string_view object,
              std::string_view user, Millis now, DenialContext context);
  bool NewUsersHearAll() const {
    return settings_.acl_pubsub_default == AclPubsubDefault::kAllChannels;
  }
  void CloseListeners(const User& before, const User& after);
  void CloseClientsOf(const User& user);

  const Clients& clients_;
  const Settings& settings_;
  Stats& stats_;
  std::function<void(Client&)> close_;
  Users users_;
  const std::unique_ptr<AclLog> log_;
};

// The error line of a denial: "NOPERM ...".
std::string DenialLine(const Denial& denial, const User& user, const Command& command);

// Like the function above, for a request that was allowed when it was queued for a transaction.
std::string DenialLineInExec(const Denial& denial);

// The error for a privileged reader, without the code: it includes the key or the channel.
std::string DenialText(const Denial& denial, const User& user, const Command& command, Args argv);

}  // namespace zsetd
