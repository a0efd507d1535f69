#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command.h"
#include "server/engine/config/settings.h"
#include "server/engine/notify/blocked_clients.h"
#include "server/engine/notify/channels.h"
#include "server/engine/notify/live_tops.h"
#include "server/engine/notify/tracking.h"
#include "server/engine/notify/watches.h"
#include "server/engine/store/store.h"
#include "server/engine/store/store_listener.h"
#include "server/engine/support/host.h"

namespace zsetd {

class Caller;
class Client;
class Effects;
class Monitors;

// The consequences of a change of the data for clients: keyspace notifications, invalidations of
// CLIENT TRACKING, failed watches, and blocked clients whose key is ready. Also owns the
// subscribers of channels and of MONITOR.
//
//   Store ──► OnChange ──► propagation            of a key that ends by itself, as a DEL, of
//                     │                           elements as a ZREM or HDEL
//                     ├──► keyspace notifications ──► channels
//                     ├──► live tops ────────────────► channels, at most once in 10 ms
//                     ├──► tracking               sent directly; broadcasts by Broadcast()
//                     ├──► watches                EXEC of the transaction fails
//                     └──► blocked clients        the key is ready; the executor runs them again
//
// Invariant: a client that has left (Forget) is in none of these tables.
class Notifier : public StoreListener {
 public:
  // All that is referred to outlives it; the store may be constructed later. `clients` are those
  // that are attached.
  Notifier(const Settings& settings, const Host& host, Effects& effects, Store& store,
           const std::map<uint64_t, Client*>& clients, uint64_t hash_seed);
  ~Notifier() override;

  // The client whose command is running (active_client.h), or null: changes are its own.
  const Client* active() const { return active_; }

  void OnChange(const Change& change) override;
  bool WantsSubkeys(KeyEvent event) const override;
  void OnMiss(int database, std::string_view key) override;
  void BeforeClear(std::span<const std::unique_ptr<Database>> databases) override;
  void BeforeSwap(Database& a, Database& b) override;

  // Starts or stops notifications of changed keys (CLIENT TRACKING).
  void StartTracking(Client& client, const TrackingMode& mode) { tracking_.Start(client, mode); }
  void StopTracking(Client& client) { store_.FreeLater(tracking_.Stop(client)); }

  // The client has read the keys of this request; they are remembered if its mode asks for it.
  void RememberReads(Client& client, const Command& command, Args argv);

  // Sends pending broadcasts. Must be called after each command or transaction.
  void Broadcast() { tracking_.Broadcast(); }

  // Brings the tracking table below a limit that was lowered, without waiting for the next read: a
  // slice at a time, until `budget` is spent.
  void TrimTrackedKeys(Micros budget);
  bool HasTooManyTrackedKeys() const { return tracking_.HasMoreKeysThan(MostTrackedKeys()); }

  // Discards the client's transaction, if it has one open, and its watches.
  void EndTransaction(Client& client);

  // The client listens to the channel or pattern from now on. Returns false if it listened already.
  bool Subscribe(Client& client, ChannelKind kind, std::string_view name);

  // Sends the messages about the first elements of sorted sets that are due, until `budget` is
  // spent. Must be called in a tick, while no unit is half done.
  void PublishTops(Micros budget);
  std::optional<Millis> NextTop() const { return live_tops_.NextDue(); }

  // The client receives nothing any more that it asked for (RESET); its watches stay.
  void Unsubscribe(Client& client);

  // The client leaves.
  void Forget(Client& client);

  // The client receives each request from now on (MONITOR). Precondition: it does not yet.
  void StartMonitoring(Client& client);

  // Sends the request to the clients that MONITOR.
  void SendToMonitors(const Caller& caller, const Command& command, Args argv) const {
    if (has_monitors_) [[unlikely]]
      SendToEachMonitor(caller, command, argv);
  }

  bool has_monitors() const { return has_monitors_; }

  Watches& watches() { return watches_; }
  const Watches& watches() const { return watches_; }
  Channels& channels() { return channels_; }
  const Channels& channels() const { return channels_; }
  BlockedClients& blocked_clients() { return blocked_clients_; }
  const BlockedClients& blocked_clients() const { return blocked_clients_; }
  const Tracking& tracking() const { return tracking_; }

 private:
  friend class ActiveClient;

  size_t MostTrackedKeys() const { return static_cast<size_t>(settings_.tracking_table_max_keys); }
  bool FollowsTops() const {
    return !live_tops_.empty() && settings_.notify_keyspace_events.Has('r');
  }
  void PropagateEnd(const Change& change);
  void PropagateEnd(const Change& change, std::span<const std::string> elements);
  void SendToEachMonitor(const Caller& caller, const Command& command, Args argv) const;
  void DeleteExpiredWatched(int index, Database& database);

  const Settings& settings_;
  const Host& host_;
  Effects& effects_;
  Store& store_;
  Watches watches_;
  BlockedClients blocked_clients_;
  Channels channels_;
  LiveTops live_tops_;
  const std::unique_ptr<Monitors> monitors_;
  bool has_monitors_ = false;  // monitors_->Any()
  Tracking tracking_;
  const Client* active_ = nullptr;
};

}  // namespace zsetd
