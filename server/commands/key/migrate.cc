// MIGRATE: sends keys to another server with RESTORE, and deletes them here after it has accepted
// them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "protocol/text/number_text.h"
#include "server/commands/common/dumped_value.h"
#include "server/commands/key/families.h"
#include "server/engine/admin_call.h"
#include "server/engine/services/migration.h"
#include "server/engine/services/services.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {
namespace {

constexpr Millis kUsualTimeout{1000};

struct MigrateRequest {
  Migration::Target target;
  Args keys;
  bool copies = false;
};

// Takes an option. KEYS must be the last one.
void TakeMigrateOption(ArgReader& args, std::string_view single_key, MigrateRequest& request) {
  Migration::Target& target = request.target;
  if (args.Take("copy")) {
    request.copies = true;
  } else if (args.Take("replace")) {
    target.replaces = true;
  } else if (args.Take("auth")) {
    target.password = args.Word();
  } else if (args.Take("auth2")) {
    const Args credentials = args.Next(2);
    if (!args.ok()) return;
    target.user = credentials[0];
    target.password = credentials[1];
  } else if (!args.Take("keys")) {
    args.Refuse(kSyntaxError);
  } else if (!single_key.empty()) {
    args.Refuse(
        "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string");
  } else {
    request.keys = args.Rest();
  }
}

int64_t Number(ArgReader& args, std::string_view text) {
  const std::optional<int64_t> number = args.ok() ? ParseInteger(text) : std::nullopt;
  if (!number) args.Refuse(kNotAnInteger);
  return number.value_or(0);
}

// The numbers are parsed after the options, as in Redis.
MigrateRequest TakeMigrateRequest(ArgReader& args) {
  MigrateRequest request;
  request.target.host = args.Word();
  request.target.port = args.Word();
  request.keys = args.Next(1);
  const std::string_view single_key = args.ok() ? request.keys[0] : std::string_view();
  const std::string_view database = args.Word();
  const std::string_view timeout = args.Word();
  while (args.ok() && !args.AtEnd()) TakeMigrateOption(args, single_key, request);
  request.target.timeout = Millis(Number(args, timeout));
  request.target.database = Number(args, database);
  if (request.target.timeout <= Millis(0)) request.target.timeout = kUsualTimeout;
  return request;
}

std::vector<std::string_view> PresentKeys(Call& call, Args keys) {
  std::vector<std::string_view> present;
  std::ranges::copy_if(keys, std::back_inserter(present),
                       [&](std::string_view key) { return call.keys.Find(key) != nullptr; });
  return present;
}

Migration::KeyPayload Pack(Call& call, std::string_view key) {
  const Entry& entry = *call.keys.Peek(key);
  Migration::KeyPayload payload = {.key = key, .dump = DumpedValue(call, entry)};
  if (const std::optional<Millis> deadline = entry.deadline()) {
    payload.time_to_live = std::max(*deadline - call.now(), Millis(1));
  }
  return payload;
}

// Erases the keys that the other server has accepted.
void EraseMoved(Call& call, const std::vector<std::string_view>& keys,
                const std::vector<size_t>& accepted) {
  std::vector<std::string_view> words = {"DEL"};
  for (const size_t number : accepted) {
    if (call.keys.Erase(keys[number])) words.push_back(keys[number]);
  }
  if (words.size() > 1) call.Propagate(words);
}

void Migrate(AdminCall& call) {
  MigrateRequest request = TakeMigrateRequest(call.args);
  request.target.asks = call.keys.is_clustered();
  if (call.Refused()) return;
  const std::vector<std::string_view> keys = PresentKeys(call, request.keys);
  if (keys.empty()) return call.reply.Simple("NOKEY");
  std::vector<size_t> accepted;
  const absl::Status status = call.engine.services().migration->Send(
      request.target, keys.size(), [&](size_t number) { return Pack(call, keys[number]); },
      accepted);
  if (!request.copies) EraseMoved(call, keys, accepted);
  if (!status.ok()) return call.Fail(status);
  call.reply.Ok();
}

// Returns the indexes of the password after AUTH, of the user and password after AUTH2, and of
// everything after an unknown option, which may be misspelt.
std::vector<size_t> SecretsOfMigrate(Args argv) {
  std::vector<size_t> secrets;
  const auto is = [&](size_t at, std::string_view option) {
    return EqualsIgnoringCase(argv[at], option);
  };
  for (size_t at = 6; at < argv.size() && !is(at, "keys"); ++at) {
    if (is(at, "copy") || is(at, "replace")) continue;
    size_t count = is(at, "auth") ? 1 : is(at, "auth2") ? 2 : argv.size();
    for (; count > 0 && at + 1 < argv.size(); --count) secrets.push_back(++at);
  }
  return secrets;
}

constexpr ValuedOption kCredentials[] = {{"AUTH", 1}, {"AUTH2", 2}};

constexpr Command kMigrateCommands[] = {
    {.name = "migrate",
     .run = Migrate,
     .arity = -6,
     .flags = kWrite | kMovableKeys | kDangerous,
     .keys = {.first = 3,
              .last = 3,
              .step = 1,
              .options_from = 6,
              .other_options = kCredentials,
              .rest_option = "KEYS"},
     .group = CommandGroup::kGeneric,
     .since = "2.6.0",
     .usage = "host port <key|\"\"> destination-db timeout [COPY] [REPLACE] "
              "[AUTH password|AUTH2 username password] [KEYS key [key ...]]",
     .summary = "Moves keys to another server. All clients wait in the meantime.",
     .cost = "O(N) for N elements of the keys, which are sent over the network",
     .key_use = "RW access delete,RW access delete incomplete",
     .tips = "nondeterministic_output",
     .secrets = SecretsOfMigrate},
};

}  // namespace

std::span<const Command> MigrateCommands() { return kMigrateCommands; }

}  // namespace zsetd
