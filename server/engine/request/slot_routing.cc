#include "server/engine/request/slot_routing.h"

#include <algorithm>

#include "core/hashing/key_slot.h"
#include "server/engine/command/request_keys.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

absl::Status Redirection(std::string_view line) {
  return absl::UnavailableError(absl::string_view(line.data(), line.size()));
}

bool UsesTls(const Caller& caller) {
  return caller.client() != nullptr && caller.client()->connection.uses_tls;
}

bool IsMoving(const ClusterControl::SlotState& state) {
  return state.is_migrating || state.is_importing;
}

// Whether the client imports the slots of all keys of the request. A unit of a script may have keys
// of several slots.
bool ImportsKeysOf(const Client& client, const Command& command, Args argv) {
  const auto imports = [&](const Command& row, Args words) {
    const RequestKeys keys(row.keys, words);
    return std::ranges::all_of(keys.begin(), keys.end(), [&](size_t position) {
      return (*client.imported_slots)[KeySlot(words[position])];
    });
  };
  if (!command.Has(kRunsTransaction)) return imports(command, argv);
  return std::ranges::all_of(client.transaction.queue, [&](const QueuedCommand& queued) {
    return imports(*queued.command, queued.argv.argv());
  });
}

}  // namespace

absl::Status SlotRouting::Check(Client& client, const Command& command, uint32_t flags, Args argv) {
  client.slot.reset();
  if (client.imported_slots != nullptr && ImportsKeysOf(client, command, argv)) [[unlikely]]
    return absl::OkStatus();
  Facts facts = {.command = command,
                 .writes = (flags & kWrite) != 0,
                 .asks = client.asking || command.implies_asking,
                 .accepts_replica = client.read_only};
  std::optional<Verdict> verdict;
  if (command.Has(kRunsTransaction)) [[unlikely]] {
    if (!client.transaction.open) return absl::OkStatus();
    facts.writes = client.transaction.may_write;
    for (const QueuedCommand& queued : client.transaction.queue) {
      if (!verdict) verdict = AddKeys(facts, *queued.command, queued.argv.argv());
    }
  } else {
    verdict = AddKeys(facts, command, argv);
  }
  client.slot = facts.slot;
  if (!verdict) verdict = VerdictOf(facts);
  if (*verdict == Verdict::kServe) return absl::OkStatus();
  if (*verdict == Verdict::kCrossSlot) SuggestTag(command, argv);
  return ErrorOf(*verdict, facts, UsesTls(client));
}

// ServesPlainly() for a request with any number of keys.
bool SlotRouting::ServesAllPlainly(Client& client, const Command& command, Args argv) const {
  if (command.Has(kRunsTransaction)) return false;
  client.slot.reset();
  for (const size_t position : RequestKeys(command.keys, argv)) {
    const uint16_t slot = KeySlot(argv[position]);
    if (!client.slot) {
      if (!services_.cluster->ServesPlainly(slot)) return false;
      client.slot = slot;
    } else if (*client.slot != slot) {
      return false;
    }
  }
  return true;
}

bool SlotRouting::Serves(Client& client, const Command& command, Args argv) const {
  if (ServesPlainly(client, command, argv)) [[likely]]
    return true;
  Facts facts = {.command = command,
                 .asks = client.asking || command.implies_asking,
                 .accepts_replica = client.read_only};
  std::optional<Verdict> verdict = AddKeys(facts, command, argv);
  client.slot = facts.slot;
  if (!verdict) verdict = VerdictOf(facts);
  return *verdict == Verdict::kServe;
}

absl::Status SlotRouting::CheckInScript(Caller& caller, bool may_use_several_slots,
                                        const Command& command, Args argv) const {
  constexpr std::string_view kSeveralSlots =
      "ERR Script attempted to access keys that do not hash to the same slot";
  Facts facts = {.command = command,
                 .writes = command.Has(kWrite),
                 .asks = caller.asking || command.implies_asking,
                 .accepts_replica = caller.read_only};
  std::optional<Verdict> verdict = AddKeys(facts, command, argv);
  if (!verdict) verdict = VerdictOf(facts);
  switch (*verdict) {
    case Verdict::kServe:
      break;
    case Verdict::kDownForWrites:
      return Refusal(
          "ERR Script attempted to execute a write command while the cluster is down and readonly");
    case Verdict::kDown:
      return Refusal("ERR Script attempted to execute a command while the cluster is down");
    case Verdict::kCrossSlot:
      return Refusal(kSeveralSlots);
    default:
      return Refusal("ERR Script attempted to access a non local key in a cluster node");
  }
  if (may_use_several_slots || !facts.slot) return absl::OkStatus();
  if (!caller.slot) caller.slot = facts.slot;
  return *caller.slot == *facts.slot ? absl::OkStatus() : Refusal(kSeveralSlots);
}

std::optional<std::string> SlotRouting::WhyWaitEnds(const Client& client) const {
  const ClusterControl& cluster = *services_.cluster;
  const bool may_be_replica = client.read_only && !client.blocked->command->Has(kWrite);
  for (const BlockedCommand::Key& key : client.blocked->keys) {
    Facts facts = {.command = *client.blocked->command, .slot = KeySlot(key.second)};
    facts.state = cluster.StateOf(*facts.slot);
    const ClusterControl::Owner owner = facts.state.owner;
    if (cluster.IsUp()) {
      if (owner == ClusterControl::Owner::kSelf || facts.state.is_importing) continue;
      if (owner == ClusterControl::Owner::kMasterOfSelf && may_be_replica) continue;
    }
    const Verdict verdict = !cluster.IsUp()                         ? Verdict::kDown
                            : owner == ClusterControl::Owner::kNone ? Verdict::kNotServed
                                                                    : Verdict::kMoved;
    return std::string(ErrorLine(ErrorOf(verdict, facts, UsesTls(client))));
  }
  return std::nullopt;
}

std::optional<SlotRouting::Verdict> SlotRouting::AddKeys(Facts& facts, const Command& command,
                                                         Args argv) const {
  facts.is_shard_channel = command.keys.are_channels;
  for (const size_t position : RequestKeys(command.keys, argv)) {
    if (const auto verdict = AddKey(facts, argv[position])) return verdict;
  }
  return std::nullopt;
}

// The owner of the first key is checked before the slots of the others, as in Redis. An expired key
// is not present.
std::optional<SlotRouting::Verdict> SlotRouting::AddKey(Facts& facts, std::string_view key) const {
  const uint16_t slot = KeySlot(key);
  if (!facts.slot) {
    facts.slot = slot;
    facts.first_key = key;
    facts.state = services_.cluster->StateOf(slot);
    if (facts.state.owner == ClusterControl::Owner::kNone) return Verdict::kNotServed;
  } else if (slot != *facts.slot) {
    return Verdict::kCrossSlot;
  } else {
    facts.has_several_keys |= key != facts.first_key;
  }
  if (!IsMoving(facts.state) || facts.is_shard_channel) [[likely]]
    return std::nullopt;
  (store_.database(0).Find(key) == nullptr ? facts.lacks_key : facts.has_present_key) = true;
  return std::nullopt;
}

// In Redis's order.
const std::array<SlotRouting::RouteCheck, 6> SlotRouting::kChecks = {
    &SlotRouting::CheckUp,        &SlotRouting::CheckMigrate, &SlotRouting::CheckMigrating,
    &SlotRouting::CheckImporting, &SlotRouting::CheckReplica, &SlotRouting::CheckOwner,
};

SlotRouting::Verdict SlotRouting::VerdictOf(const Facts& facts) const {
  if (!facts.slot) return Verdict::kServe;  // a request without keys
  for (const RouteCheck check : kChecks) {
    if (const std::optional<Verdict> verdict = (this->*check)(facts)) return *verdict;
  }
  return Verdict::kServe;
}

std::optional<SlotRouting::Verdict> SlotRouting::CheckUp(const Facts& facts) const {
  if (services_.cluster->IsUp()) [[likely]]
    return std::nullopt;
  if (facts.is_shard_channel) {
    if (settings_.cluster_allow_pubsubshard_when_down) return std::nullopt;
    return Verdict::kDown;
  }
  if (!settings_.cluster_allow_reads_when_down) return Verdict::kDown;
  return facts.writes ? std::optional(Verdict::kDownForWrites) : std::nullopt;
}

// MIGRATE sends the keys that this node has.
std::optional<SlotRouting::Verdict> SlotRouting::CheckMigrate(const Facts& facts) const {
  return IsMoving(facts.state) && facts.command.name == "migrate" ? std::optional(Verdict::kServe)
                                                                  : std::nullopt;
}

std::optional<SlotRouting::Verdict> SlotRouting::CheckMigrating(const Facts& facts) const {
  if (!facts.state.is_migrating || !facts.lacks_key) return std::nullopt;
  return facts.has_present_key ? Verdict::kTryAgain : Verdict::kAsk;
}

std::optional<SlotRouting::Verdict> SlotRouting::CheckImporting(const Facts& facts) const {
  if (!facts.state.is_importing || !facts.asks) return std::nullopt;
  return facts.has_several_keys && facts.lacks_key ? Verdict::kTryAgain : Verdict::kServe;
}

std::optional<SlotRouting::Verdict> SlotRouting::CheckReplica(const Facts& facts) const {
  if (facts.state.owner != ClusterControl::Owner::kMasterOfSelf) return std::nullopt;
  const bool is_served = (facts.accepts_replica || facts.is_shard_channel) && !facts.writes;
  return is_served ? std::optional(Verdict::kServe) : std::nullopt;
}

std::optional<SlotRouting::Verdict> SlotRouting::CheckOwner(const Facts& facts) const {
  const bool is_own = facts.state.owner == ClusterControl::Owner::kSelf;
  return is_own ? Verdict::kServe : Verdict::kMoved;
}

absl::Status SlotRouting::ErrorOf(Verdict verdict, const Facts& facts, bool tls) const {
  const ClusterControl& cluster = *services_.cluster;
  const size_t slot = facts.slot.value_or(0);
  switch (verdict) {
    case Verdict::kServe:
      return absl::OkStatus();
    case Verdict::kMoved:
      return Redirection("MOVED " + std::to_string(slot) + " " + cluster.OwnerAddress(slot, tls));
    case Verdict::kAsk:
      return Redirection("ASK " + std::to_string(slot) + " " + cluster.TargetAddress(slot, tls));
    case Verdict::kTryAgain:
      return Redirection("TRYAGAIN Multiple keys request during rehashing of slot");
    case Verdict::kCrossSlot:
      return Redirection("CROSSSLOT Keys in request don't hash to the same slot");
    case Verdict::kDown:
      return Redirection("CLUSTERDOWN The cluster is down");
    case Verdict::kDownForWrites:
      return Redirection("CLUSTERDOWN The cluster is down and only accepts read commands");
    case Verdict::kNotServed:
      return Redirection("CLUSTERDOWN Hash slot not served");
  }
  return absl::OkStatus();
}

// Users of sorted sets meet the error with ZUNIONSTORE and similar commands, whose result then
// needs the slot of its sources.
void SlotRouting::SuggestTag(const Command& command, Args argv) {
  const bool stores = command.group == CommandGroup::kSortedSet && command.Has(kWrite);
  const RequestKeys keys(command.keys, argv);
  if (!stores || has_suggested_tag_ || keys.empty()) return;
  has_suggested_tag_ = true;
  constexpr size_t kMostNames = 3;
  constexpr size_t kMostKeyBytes = 64;
  std::string names;
  size_t count = 0;
  for (const size_t position : keys) {
    if (++count > kMostNames) break;
    names += (names.empty() ? "" : ", ") + Quoted(argv[position], kMostKeyBytes);
  }
  log_.Write(
      LogLevel::kNotice,
      UpperCase(command.name) + " with keys of several slots was refused: " + names +
          ". Keys with the same hash tag, such as {board}:monday and {board}:week, are in one "
          "slot.");
}

}  // namespace zsetd
