#include "server/engine/acl/access_control.h"

#include <utility>

#include "server/engine/acl/client_description.h"

namespace zsetd {
namespace {

constexpr size_t kMostToldBytes = 1024;  // of a key or a name in the log, which strangers choose

uint64_t& CountOf(Denial::Reason reason, Stats& stats) {
  switch (reason) {
    case Denial::Reason::kCommand:
      return stats.denied_commands;
    case Denial::Reason::kKey:
      return stats.denied_keys;
    case Denial::Reason::kAuth:
      return stats.denied_logins;
    case Denial::Reason::kChannel:
      return stats.denied_channels;
  }
  return stats.denied_commands;
}

}  // namespace

AccessControl::AccessControl(const CommandTable& commands, const Clients& clients,
                             const Settings& settings, Stats& stats,
                             std::function<void(Client&)> close)
    : clients_(clients),
      settings_(settings),
      stats_(stats),
      close_(std::move(close)),
      users_(commands) {
  if (!settings.requirepass.empty()) SetDefaultPassword(settings.requirepass);
}

void AccessControl::AssignDefaultUser(Client& client) const {
  client.user = &users_.default_user();
  client.authenticated = DefaultIsOpen();
}

bool AccessControl::DefaultIsOpen() const {
  return users_.default_user().enabled() && users_.default_user().takes_any_password();
}

bool AccessControl::Authenticate(Client& client, std::string_view name, std::string_view password,
                                 std::string_view command, Millis now) {
  const User* user = users_.Authenticate(name, password);
  if (user == nullptr) {
    Record(client, {Denial::Reason::kAuth}, command, name, now, ContextOf(client));
    return false;
  }
  client.user = user;
  client.authenticated = true;
  return true;
}

std::optional<Denial> AccessControl::CheckRules(Client& client, const Command& command, Args argv,
                                                Millis now, AclLog::Context context) {
  const std::optional<Denial> denial = client.user->Check(command, argv);
  if (!denial) return std::nullopt;
  const bool is_command = denial->reason == Denial::Reason::kCommand;
  Record(client, *denial, is_command ? command.name : argv[denial->position], client.user->name(),
         now, context);
  return denial;
}

void AccessControl::Record(const Client& client, const Denial& denial, std::string_view object,
                           std::string_view user, Millis now, AclLog::Context context) {
  ++CountOf(denial.reason, stats_);
  std::string line = ClientLine(client, now);
  line.pop_back();
  log_.Add({.reason = denial.reason,
            .context = context,
            .object = std::string(object.substr(0, kMostToldBytes)),
            .user = std::string(user.substr(0, kMostToldBytes)),
            .client = std::move(line),
            .updated = now},
           static_cast<size_t>(settings_.acllog_max_len));
}

}  // namespace zsetd
