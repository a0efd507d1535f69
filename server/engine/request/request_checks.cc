#include "server/engine/request/request_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/util/allocation_size.h"
#include "server/engine/client/client_memory.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr size_t kMaxEchoedBytes = 128;  // of a request, in an error; as Redis

absl::Status CheckProtected(const Client& client, const Settings& settings,
                            const Command& command) {
  const bool is_module = command.Has(kNeedsModuleEnabled);
  const DangerousAccess allowed =
      is_module ? settings.enable_module_command : settings.enable_debug_command;
  if (MayDoProtected(client, allowed)) return absl::OkStatus();
  const std::string name = is_module ? "module" : "debug";
  return Refusal("ERR " + UpperCase(name) + " command not allowed. If the enable-" + name +
                 "-command option is set to \"local\", you can run it from a local connection, "
                 "otherwise you need to set this option in the configuration file, and then "
                 "restart the server.");
}

absl::Status UnknownCommand(Args argv) {
  std::string args;
  for (size_t i = 1; i < argv.size() && args.size() < kMaxEchoedBytes; ++i) {
    args += Quoted(argv[i], kMaxEchoedBytes - args.size()) + " ";
  }
  return Refusal("ERR unknown command " + Quoted(argv[0], kMaxEchoedBytes) +
                 ", with args beginning with: " + args);
}

absl::Status CheckShape(const Command* command, Args argv) {
  if (command == nullptr) return UnknownCommand(argv);
  if (command->run == nullptr && argv.size() > 1) return UnknownSubcommand(*command, argv);
  if (command->run == nullptr || !command->AcceptsCount(argv.size())) {
    return Refusal(WrongArity(command->name));
  }
  return absl::OkStatus();
}

bool UsesKeys(const Command& command) {
  return command.Has(kWrite) || command.Has(kReadOnly) || command.Has(kMayReplicate);
}

// Commands that a transaction may run although each queued request takes memory.
bool EndsTransaction(const Command& command) {
  constexpr std::array<std::string_view, 4> kEnds = {"exec", "discard", "quit", "reset"};
  return std::ranges::count(kEnds, command.name) > 0;
}

// The most that a key, channel or prefix takes that a client has the server keep.
size_t MostBytesToKeep(Args argv) {
  constexpr size_t kMostPerWord = 320;  // without its bytes: BytesPerKey, BytesPerName
  size_t bytes = 0;
  for (const std::string_view word : argv) {
    bytes += kMostPerWord + 2 * StringAllocationSize(word.size());
  }
  return bytes;
}

// Whether the command has the server keep more for the client than each client may have in any
// case: a client that watches or waits for a few keys, or listens to a few channels, uses less for
// them than for its connection, and is never refused, as in Redis.
bool KeepsMuch(const Client& client, const Command& command, Args argv) {
  constexpr size_t kLittle = 16u << 10;
  if (!command.Has(kKeepsMemory) && !command.Has(kBlocking)) return false;
  return KeptBytes(client) + MostBytesToKeep(argv) > kLittle;
}

}  // namespace

absl::Status CheckRequest(const Client& client, const Settings& settings,
                          const AccessControl& access, const Command* command, Args argv) {
  if (absl::Status shape = CheckShape(command, argv); !shape.ok()) return shape;
  if (command->HasAny(kNeedsDebugEnabled | kNeedsModuleEnabled)) [[unlikely]] {
    const absl::Status allowed = CheckProtected(client, settings, *command);
    if (!allowed.ok()) return allowed;
  }
  if (access.MustAuthenticate(client) && !command->Has(kNoAuth)) {
    return Refusal("NOAUTH Authentication required.");
  }
  if (client.transaction.open && command->Has(kNoMulti)) {
    return Refusal("ERR Command not allowed inside a transaction");
  }
  return absl::OkStatus();
}

absl::Status CheckContext(const Client& client, const Command& command) {
  const bool only_listens = client.IsSubscriber() && client.reply.protocol() == Protocol::kResp2;
  if (only_listens && !command.Has(kAllowedWhileSubscribed)) {
    return Refusal("ERR Can't execute '" + std::string(command.name) +
                   "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in "
                   "this context");
  }
  if (client.monitors() && UsesKeys(command)) {
    return Refusal("ERR Replica can't interact with the keyspace");
  }
  return absl::OkStatus();
}

bool MayDoProtected(const Client& client, DangerousAccess allowed) {
  return allowed == DangerousAccess::kYes ||
         (allowed == DangerousAccess::kLocal && client.IsLocal());
}

bool IsHttp(Args argv) {
  return EqualsIgnoringCase(argv[0], "post") || EqualsIgnoringCase(argv[0], "host:");
}

absl::Status UnknownSubcommand(const Command& command, Args argv) {
  return Refusal("ERR unknown subcommand " + Quoted(argv[1], kMaxEchoedBytes) + ". Try " +
                 UpperCase(command.name) + " HELP.");
}

bool MayKeepMore(const Client& client, const Command& command, Args argv) {
  if (client.transaction.open && !EndsTransaction(command)) return true;
  return KeepsMuch(client, command, argv);
}

bool MayTakeMemory(const Client& client, const Command& command, uint32_t flags, Args argv) {
  if ((flags & kDenyOom) != 0 || MayKeepMore(client, command, argv)) return true;
  return command.Has(kRunsTransaction) && client.transaction.open &&
         client.transaction.may_take_memory;
}

}  // namespace zsetd
