#include "server/engine/request/request_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/util/allocation_size.h"
#include "server/engine/client/client_memory.h"
#include "server/engine/notify/live_tops.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr size_t kMaxEchoedBytes = 128;  // of a request, in an error; as Redis

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
    bytes += kMostPerWord + 2 * StringAllocationSize(word.size()) + LiveTops::MostBytesFor(word);
  }
  return bytes;
}

// Whether the command has the server keep more for the client than each client may have in any
// case: a client that watches or waits for a few keys, or listens to a few channels, uses less for
// them than for its connection, and is never refused, as in Redis.
bool KeepsMuch(const Client& client, const Command& command, Args argv) {
  if (!command.Has(kKeepsMemory) && !command.Has(kBlocking)) return false;
  return KeptBytes(client) + MostBytesToKeep(argv) > kAlwaysKeptBytes;
}

}  // namespace

bool MayDoProtected(const Client& client, DangerousAccess allowed) {
  return allowed == DangerousAccess::kYes ||
         (allowed == DangerousAccess::kLocal && client.IsLocal());
}

bool IsHttp(Args argv) {
  return EqualsIgnoringCase(argv[0], "post") || EqualsIgnoringCase(argv[0], "host:");
}

absl::Status UnknownCommand(Args argv) {
  std::string args;
  for (size_t i = 1; i < argv.size() && args.size() < kMaxEchoedBytes; ++i) {
    args += Quoted(argv[i], kMaxEchoedBytes - args.size()) + " ";
  }
  return Refusal("ERR unknown command " + Quoted(argv[0], kMaxEchoedBytes) +
                 ", with args beginning with: " + args);
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
