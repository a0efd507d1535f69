#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "core/hashing/key_slot.h"
#include "protocol/resp/args.h"
#include "server/engine/client/client.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"
#include "server/engine/services/cluster_control.h"
#include "server/engine/services/services.h"
#include "server/engine/store/store.h"
#include "server/engine/support/log.h"

namespace zsetd {

// Decides in cluster mode whether this node serves a request, by the slots of its keys and shard
// channels. A transaction and a script are served by one node as a whole.
class SlotRouting {
 public:
  // All arguments outlive it.
  SlotRouting(const Settings& settings, const Services& services, const Store& store,
              const Log& log)
      : settings_(settings), services_(services), store_(store), log_(log) {}
  SlotRouting(const SlotRouting&) = delete;

  bool IsOn() const { return settings_.cluster_enabled; }

  // The usual requests: their keys are in one slot, of which this node serves everything. Check()
  // would return OK. Stores the slot in the client. Only in cluster mode, like the functions below.
  // O(keys).
  bool ServesPlainly(Client& client, const Command& command, Args argv) const {
    if (!command.has_one_key) return ServesAllPlainly(client, command, argv);
    client.slot = KeySlot(argv[1]);
    return services_.cluster->ServesPlainly(*client.slot);
  }

  // Returns the redirection or the error to reply to a request, or OK. `flags` are those of this
  // request. Stores the slot of its keys in the client. O(keys), of an EXEC those of all queued
  // requests.
  absl::Status Check(Client& client, const Command& command, uint32_t flags, Args argv);

  // Whether Check() would return OK for a command that only reads. Stores the slot in the client,
  // and changes nothing else.
  bool Serves(Client& client, const Command& command, Args argv) const;

  // Like Check(), for a command of a script that `caller` runs. Unless the script may use several
  // slots, all its commands and the caller's request have the same slot.
  absl::Status CheckInScript(Caller& caller, bool may_use_several_slots, const Command& command,
                             Args argv) const;

  // Returns the error that ends the wait of a client for keys, if this node does not serve them any
  // more.
  std::optional<std::string> WhyWaitEnds(const Client& client) const;

  // Whether an error is one of Check(). EXEC replies it as it is.
  static bool IsRedirection(const absl::Status& status) {
    return status.code() == absl::StatusCode::kUnavailable;
  }

 private:
  enum class Verdict : uint8_t {
    kServe,
    kMoved,
    kAsk,
    kTryAgain,
    kCrossSlot,
    kDown,
    kDownForWrites,
    kNotServed,
  };

  // The properties of a request and of its keys.
  struct Facts {
    const Command& command;
    bool writes = false;
    bool asks = false;             // the client has sent ASKING, or the command implies it
    bool accepts_replica = false;  // the client has sent READONLY
    bool is_shard_channel = false;
    KnownSlot slot = {};
    std::string_view first_key = {};
    ClusterControl::SlotState state = {};
    bool has_several_keys = false;
    bool has_present_key = false;
    bool lacks_key = false;
  };

  // Returns the verdict, or nullopt if the next check decides.
  using RouteCheck = std::optional<Verdict> (SlotRouting::*)(const Facts&) const;
  static const std::array<RouteCheck, 6> kChecks;

  bool ServesAllPlainly(Client& client, const Command& command, Args argv) const;
  std::optional<Verdict> AddKeys(Facts& facts, const Command& command, Args argv) const;
  std::optional<Verdict> AddKey(Facts& facts, std::string_view key) const;
  Verdict VerdictOf(const Facts& facts) const;
  std::optional<Verdict> CheckUp(const Facts& facts) const;
  std::optional<Verdict> CheckMigrate(const Facts& facts) const;
  std::optional<Verdict> CheckMigrating(const Facts& facts) const;
  std::optional<Verdict> CheckImporting(const Facts& facts) const;
  std::optional<Verdict> CheckReplica(const Facts& facts) const;
  std::optional<Verdict> CheckOwner(const Facts& facts) const;
  absl::Status ErrorOf(Verdict verdict, const Facts& facts, bool tls) const;
  void SuggestTag(const Command& command, Args argv);

  const Settings& settings_;
  const Services& services_;
  const Store& store_;
  const Log& log_;
  bool has_suggested_tag_ = false;
};

}  // namespace zsetd
