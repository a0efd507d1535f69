#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/util/time.h"
#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/engine/client/client_pause.h"
#include "server/engine/client/client_weights.h"
#include "server/engine/config/settings.h"
#include "server/engine/metrics/metrics.h"
#include "server/engine/notify/notifier.h"
#include "server/engine/store/store.h"
#include "server/engine/support/host.h"

namespace zsetd {

// The clients that are attached: from when they connect until they leave, which of them are closed
// for what they take, and which wait for the end of a pause. It runs no commands.
//
// Invariants: each attached client has a user and an id of its own; the memory of all is weighed
// while maxmemory-clients is set.
class Clients : private OutputLimiter {
 public:
  using ById = std::map<uint64_t, Client*>;

  // All that is referred to outlives it, and may be constructed later. `on_leave` is called for
  // each client that leaves, when it listens to nothing any more and is still attached.
  Clients(const Settings& settings, const Host& host, Metrics& metrics, Store& store,
          Notifier& notifier, AccessControl& access, ServerMode& mode,
          std::function<void(Client&)> on_leave)
      : settings_(settings),
        host_(host),
        metrics_(metrics),
        store_(store),
        notifier_(notifier),
        access_(access),
        on_leave_(std::move(on_leave)),
        pause_(mode) {}
  Clients(const Clients&) = delete;

  // Applies the settings that are not read where they are used.
  void ApplySettings();

  // The lifetime of a connection. The client's address must not change until Detach.
  uint64_t NextId() { return ++last_id_; }
  void Attach(Client& client);
  void Detach(Client& client);

  // Ends a client's connection: after the reply if its own command is running, else immediately.
  void End(Client& client);

  // Closes the connection of a client that runs no command. It is detached immediately; unsent
  // output is lost.
  void Disconnect(Client& client);

  // Resets the client to its initial state (RESET).
  void Reset(Client& client);

  // Those that are attached, by age.
  const ById& all() const { return by_id_; }

  // Whether so much is unsent that the client must be closed (client-output-buffer-limit).
  bool IsStalled(Client& client) const;

  // The maximum length of a reply, which is abandoned when it exceeds it.
  size_t MostReplyBytes() const;

  // Closes the client whose command is running, because its reply exceeds that; not if CLIENT REPLY
  // discards it.
  void CloseForOutputLimit(Client& client);

  // Closes a replica that sent a command with a reply.
  void CloseForReply(Client& replica);

  // Closes a client that sends HTTP.
  void RejectHttp(Client& client);

  // Frees the rest of the client's long reply, if there is one.
  void EndLongReply(Client& client);

  // The client's memory has changed outside of its commands: its input has grown, its output has
  // been sent. Closes the largest clients if all together exceed their limit; this one may be among
  // them.
  void OnMemoryChange(Client& client);

  // Closes the largest clients while all together exceed maxmemory-clients. O(1) without a limit.
  void Evict() {
    if (weights_.is_on()) EvictWhileTooLarge();
  }

  // Wakes stalled clients and those that hold a large buffer for nothing, and closes idle ones;
  // `hz` times a second at most. O(clients). Stops when the budget is spent; the next call
  // continues with the other clients.
  void Maintain(Micros budget);
  bool IsMaintaining() const { return maintained_next_ != 0; }  // more is left for the next call
  void set_maintains(bool maintains) { maintains_ = maintains; }

  ClientPause& pause() { return pause_; }
  const ClientPause& pause() const { return pause_; }
  bool IsPaused() const { return pause_.IsOn(store_.now()); }

 private:
  static void CloseNow(Client& client);
  void OnMessage(Client& client) override;
  template <class Exceeds>
  bool ExceedsLimit(Client& client, Exceeds exceeds) const;
  bool BeginsMaintenance(Millis now);
  void Maintain(Client& client, Millis now);
  bool IsIdle(const Client& client) const;
  size_t KeptFor(const Client& replica) const;
  size_t MemoryLimit() const;
  void EvictWhileTooLarge();

  const Settings& settings_;
  const Host& host_;
  Metrics& metrics_;
  Store& store_;
  Notifier& notifier_;
  AccessControl& access_;
  std::function<void(Client&)> on_leave_;
  ById by_id_;
  ClientWeights weights_;  // weighs nothing while there is no limit
  ClientPause pause_;
  uint64_t last_id_ = 0;
  bool maintains_ = true;
  Millis maintained_at_{0};
  uint64_t maintained_next_ = 0;  // clients from this id on are left; 0: none
  std::optional<Millis> http_logged_at_;
};

}  // namespace zsetd
