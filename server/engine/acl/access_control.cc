#include "server/engine/acl/access_control.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/acl/acl_file.h"
#include "server/engine/acl/acl_log.h"
#include "server/engine/acl/client_description.h"
#include "server/engine/notify/top_channel.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"

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

constexpr std::string_view kNoFile =
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users "
    "via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis "
    "configuration file set) in order to store users in the Redis configuration.";

bool IsAmong(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::count(names, name) > 0;
}

// Whether all channel patterns of one selector are, literally, among those of others.
bool Keeps(const AclSelector& before, const std::vector<const AclSelector*>& after) {
  if (before.AllowsAllChannels()) return false;
  return std::ranges::all_of(before.channels(), [&](const std::string& channel) {
    return std::ranges::any_of(
        after, [&](const AclSelector* selector) { return IsAmong(channel, selector->channels()); });
  });
}

bool MayHear(const std::string& name, ChannelKind kind, const User& user) {
  const bool is_pattern = kind == ChannelKind::kPattern;
  return std::ranges::any_of(user.AllSelectors(), [&](const AclSelector* selector) {
    return selector->AllowsChannel(name, is_pattern);
  });
}

bool MayHearAll(const Client& client, const User& user) {
  for (size_t kind = 0; kind < kChannelKinds; ++kind) {
    for (const std::string& name : client.listens_to(ChannelKind(kind))) {
      if (!MayHear(name, ChannelKind(kind), user)) return false;
    }
  }
  return true;
}

// Whether the user may read the keys of all live tops that the client has subscribed to.
bool MayFollowTops(const Client& client, const User& user) {
  return std::ranges::all_of(
      client.listens_to(ChannelKind::kChannel), [&](const std::string& name) {
        return !ReadTopChannel(name) || MayHear(name, ChannelKind::kChannel, user);
      });
}

std::string NoPermissionToRun(const User& user, const Command& command) {
  return "User " + user.name() + " has no permissions to run the '" + std::string(command.name) +
         "' command";
}

}  // namespace

AccessControl::AccessControl(const CommandTable& commands, const Clients& clients,
                             const Settings& settings, Stats& stats,
                             std::function<void(Client&)> close)
    : clients_(clients),
      settings_(settings),
      stats_(stats),
      close_(std::move(close)),
      users_(commands),
      log_(std::make_unique<AclLog>()) {
  if (!settings.requirepass.empty()) SetDefaultPassword(settings.requirepass);
}

AccessControl::~AccessControl() = default;

void AccessControl::AssignDefaultUser(Client& client) const {
  client.user_ = &users_.default_user();
  client.authenticated_ = DefaultIsOpen();
}

void AccessControl::ActAs(Caller& internal, const User& user) { internal.user_ = &user; }

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
  client.user_ = user;
  client.authenticated_ = true;
  return true;
}

std::optional<Denial> AccessControl::CheckRules(Client& client, const Command& command, Args argv,
                                                Millis now, DenialContext context) {
  assert(client.user() != nullptr);
  const std::optional<Denial> denial = client.user()->Check(command, argv);
  if (!denial) return std::nullopt;
  const bool is_command = denial->reason == Denial::Reason::kCommand;
  Record(client, *denial, is_command ? command.name : argv[denial->position], client.user()->name(),
         now, context);
  return denial;
}

void AccessControl::Record(const Client& client, const Denial& denial, std::string_view object,
                           std::string_view user, Millis now, DenialContext context) {
  ++CountOf(denial.reason, stats_);
  std::string line = ClientLine(client, now);
  assert(line.ends_with('\n'));
  line.pop_back();
  log_->Add({.reason = denial.reason,
             .context = context,
             .object = std::string(object.substr(0, kMostToldBytes)),
             .user = std::string(user.substr(0, kMostToldBytes)),
             .client = std::move(line),
             .updated = now},
            static_cast<size_t>(settings_.acllog_max_len));
}

absl::Status AccessControl::SetUser(std::string_view name, Args modifiers) {
  std::unique_ptr<User> draft;
  const absl::Status status = users_.Draft(name, modifiers, NewUsersHearAll(), draft);
  if (!status.ok()) return status;
  if (const User* known = users_.Find(name)) CloseListeners(*known, *draft);
  users_.Put(*draft);
  return absl::OkStatus();
}

bool AccessControl::DeleteUser(std::string_view name) {
  const std::unique_ptr<User> user = users_.Remove(name);
  if (user != nullptr) CloseClientsOf(*user);
  return user != nullptr;
}

void AccessControl::Replace(const Users& others) {
  std::vector<std::string> gone;
  for (const auto& [name, user] : users_.all()) {
    const User* other = others.Find(name);
    if (other == nullptr) {
      gone.push_back(name);
    } else {
      CloseListeners(*user, *other);
    }
  }
  for (const std::string& name : gone) DeleteUser(name);
  for (const auto& [name, user] : others.all()) users_.Put(*user);
}

absl::Status AccessControl::LoadConfigured() {
  const bool has_file = !settings_.aclfile.empty();
  if (has_file && !settings_.users.empty()) {
    return Refusal("aclfile: users are in that file or in this one (user), but not in both");
  }
  if (has_file) return LoadFile();
  return ReadUserLines(settings_.users, NewUsersHearAll(), users_);
}

absl::Status AccessControl::LoadFile() {
  if (settings_.aclfile.empty()) return Refusal(kNoFile);
  Users loaded(users_.commands());
  const absl::Status status = ReadUsersFile(settings_.aclfile, NewUsersHearAll(), loaded);
  if (status.ok()) Replace(loaded);
  return status;
}

absl::Status AccessControl::SaveFile() const {
  if (settings_.aclfile.empty()) return Refusal(kNoFile);
  const absl::Status status = WriteUsersFile(settings_.aclfile, users_);
  if (status.ok()) return status;
  return Refusal("ERR There was an error trying to save the ACLs: " +
                 std::string(ErrorLine(status)));
}

std::vector<std::vector<std::string>> AccessControl::UserLines() const {
  std::vector<std::vector<std::string>> lines;
  if (!settings_.aclfile.empty()) return lines;
  for (const auto& [name, user] : users_.all()) {
    const std::string text = user->Text();
    const std::vector<std::string_view> argv = Split(text, ' ');
    lines.emplace_back(argv.begin() + 1, argv.end());
  }
  return lines;
}

std::vector<std::vector<std::string>> AccessControl::UserLinesOf(const Settings& configured) const {
  const Clients none;
  Stats ignored;
  AccessControl fresh(users_.commands(), none, configured, ignored, nullptr);
  const bool starts = fresh.LoadConfigured().ok();
  return starts ? fresh.UserLines() : std::vector<std::vector<std::string>>();
}

// As in Redis, channels are not checked if their rules have only been extended. Live tops are,
// because they depend on the rules of keys too.
void AccessControl::CloseListeners(const User& before, const User& after) {
  const std::vector<const AclSelector*> rules = after.AllSelectors();
  const bool keeps_channels =
      std::ranges::any_of(rules, &AclSelector::AllowsAllChannels) ||
      std::ranges::all_of(before.AllSelectors(),
                          [&](const AclSelector* selector) { return Keeps(*selector, rules); });
  const auto may_stay = keeps_channels ? MayFollowTops : MayHearAll;
  std::vector<Client*> closed;  // separate, because a closed client leaves clients_
  for (const auto& [id, client] : clients_) {
    if (client->user() == &before && !may_stay(*client, after)) closed.push_back(client);
  }
  for (Client* client : closed) close_(*client);
}

void AccessControl::CloseClientsOf(const User& user) {
  std::vector<Client*> closed;
  for (const auto& [id, client] : clients_) {
    if (client->user() == &user) closed.push_back(client);
  }
  for (Client* client : closed) {
    client->user_ = &users_.default_user();
    client->authenticated_ = false;
    close_(*client);
  }
}

std::string DenialLine(const Denial& denial, const User& user, const Command& command) {
  switch (denial.reason) {
    case Denial::Reason::kKey:
      return "NOPERM No permissions to access a key";
    case Denial::Reason::kChannel:
      return "NOPERM No permissions to access a channel";
    default:
      return "NOPERM " + NoPermissionToRun(user, command);
  }
}

std::string DenialLineInExec(const Denial& denial) {
  const std::string line =
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: ";
  switch (denial.reason) {
    case Denial::Reason::kKey:
      return line + "no permission to touch the specified keys";
    case Denial::Reason::kChannel:
      return line + "no permission to access one of the channels used as arguments";
    default:
      return line + "no permission to execute the command or subcommand";
  }
}

std::string DenialText(const Denial& denial, const User& user, const Command& command, Args argv) {
  if (denial.reason == Denial::Reason::kCommand) return NoPermissionToRun(user, command);
  assert(denial.position < argv.size());
  const bool is_key = denial.reason == Denial::Reason::kKey;
  return "User " + user.name() + " has no permissions to access the '" +
         std::string(argv[denial.position]) + "' " + (is_key ? "key" : "channel");
}

}  // namespace zsetd
