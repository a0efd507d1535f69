#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/util/rng.h"
#include "server/engine/client/tracking_mode.h"
#include "server/engine/notify/tracking_prefixes.h"
#include "server/engine/notify/tracking_table.h"

namespace zsetd {

class Client;

// Notifies clients of changes of keys that they may have cached (CLIENT TRACKING). A client that
// has read a key is notified of its next change, once; in broadcast mode, of every change.
//
// A RESP3 client gets a push; a RESP2 client can have another connection notified in its place, on
// the channel __redis__:invalidate.
//
// Invariant: `client_count` is the number of clients whose tracking is on; with none the table is
// empty. The table is bounded by tracking-table-max-keys: a key too many goes, as if it had
// changed. Prefixes are bounded for each client, and count as its memory.
class Tracking {
 public:
  // `clients` are all there are.
  Tracking(uint64_t hash_seed, const std::map<uint64_t, Client*>& clients)
      : hash_seed_(hash_seed), clients_(clients), table_(NewTable()) {}

  // Turns tracking on, or changes what it was. Prefixes that the client has stay.
  void Start(Client& client, const TrackingMode& mode);

  // Returns the unused memory, which the caller frees, or null. No effect if tracking is off.
  std::shared_ptr<void> Stop(Client& client);

  // Whether the client's next command or transaction is an exception from its choice of keys
  // (CLIENT CACHING).
  static void SetException(Client& client, bool is_exception);

  bool IsOn() const { return client_count_ > 0; }

  // For one client.
  static constexpr size_t kMostPrefixes = 100'000;
  static constexpr size_t kMostPrefixBytes = 64u << 10;

  // The client has read the key. With more than `most` keys then, unless that is 0, random keys go.
  void Remember(Client& client, std::string_view key, size_t most, Rng& rng);

  // Whether the table has more than `most` keys; never if that is 0.
  bool HasMoreKeysThan(size_t most) const { return most > 0 && table_->key_count() > most; }

  // Removes random keys, as if they had changed, until that is no longer so, but `effort` at most.
  // Whether the table is within the limit.
  bool Trim(size_t most, size_t effort, Rng& rng);

  // The key was changed by the client `by`, or by the server if that is null.
  void Touch(std::string_view key, const Client* by);

  // Invalidates all keys. Returns the unused memory, which the caller frees.
  std::shared_ptr<void> TouchAll();

  // Sends pending broadcasts. Must be called after each command.
  void Broadcast();

  size_t client_count() const { return client_count_; }
  size_t prefix_count() const { return prefixes_.count(); }
  const TrackingTable& table() const { return *table_; }

 private:
  std::shared_ptr<TrackingTable> NewTable() const;
  void Invalidate(std::string_view key, const Client* by);
  void ForgetGone(std::string_view key, const TrackingTable::Readers& readers);
  static void BreakRedirect(Client& client);
  Client* Find(uint64_t id) const;

  // Without keys: of all.
  using Keys = std::span<const std::string_view>;
  void Send(Client& client, std::optional<Keys> keys) const;

  uint64_t hash_seed_;
  const std::map<uint64_t, Client*>& clients_;
  std::shared_ptr<TrackingTable> table_;
  TrackingPrefixes prefixes_;
  size_t client_count_ = 0;
};

}  // namespace zsetd
