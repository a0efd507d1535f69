#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/client/owned_args.h"
#include "server/engine/state/server_mode.h"

namespace zsetd {

class Client;

// Pauses of clients: which commands are postponed, until when, and the postponed clients in the
// order in which they were postponed. During a pause nothing else changes either: expired keys are
// not deleted until its end, but are not visible. Each cause has a pause of its own, so the end of
// one does not end another.
//
// When all pauses have ended, the postponed requests are released. They run a few at a time. If
// another pause begins in the meantime, each released request is checked again when its turn comes.
//
// Invariant: each postponed client has a request in `postponed_request`.
class ClientPause {
 public:
  enum class Cause { kCommand, kFailover, kShutdown, kMigration };  // kCommand: CLIENT PAUSE
  enum class Reach { kWrites, kEverything };

  // Sets and clears the state of `mode`, which outlives it.
  explicit ClientPause(ServerMode& mode) : mode_(mode) {}
  ClientPause(const ClientPause&) = delete;

  // For pauses that only End() ends: their length does not depend on the clock, which may be set.
  static constexpr Millis kUntilEnded = Millis::max();

  // From now until then. Two pauses of one cause combine to the wider scope and the later end.
  void Begin(Cause cause, Reach reach, Millis now, Millis until);
  void End(Cause cause);

  bool IsOn(Millis now) const { return mode_.IsPaused(now); }
  bool IsOn(Cause cause, Millis now) const { return pauses_[static_cast<size_t>(cause)].IsOn(now); }

  // The end of the last pause, while any is on. The present time, if requests are released, or all
  // pauses have ended and requests are still postponed.
  std::optional<Millis> NextDeadline(Millis now) const;

  // Whether a request of the client with these flags (CommandFlag) must be postponed while a pause
  // is on.
  bool Holds(const Client& client, uint32_t flags, Millis now) const;

  // Postpones the client's request.
  void Postpone(Client& client, Args argv);

  // Removes the client and its request; no effect if it has none. O(log(postponed clients)).
  void Remove(Client& client);

  // Releases all postponed requests.
  void Release() { released_until_ = next_; }
  bool HasReleased() const { return HasPostponed() && postponed_.begin()->first < released_until_; }
  bool HasUnreleased() const {
    return HasPostponed() && postponed_.rbegin()->first >= released_until_;
  }

  // Removes and returns the client whose released request was postponed first, with the request; or
  // nothing.
  struct PostponedRequest {
    Client* client;
    OwnedArgs argv;
  };
  std::optional<PostponedRequest> TakeReleased();

  size_t postponed() const { return postponed_.size(); }
  bool HasPostponed() const { return !postponed_.empty(); }

 private:
  static constexpr size_t kCauses = 4;

  struct Pause {
    Reach reach = Reach::kWrites;
    std::optional<Millis> until;

    bool IsOn(Millis now) const { return until && now < *until; }
  };

  Reach ReachAt(Millis now) const;

  ServerMode& mode_;
  std::array<Pause, kCauses> pauses_;      // by cause
  std::optional<Millis> until_;            // the latest end of all
  std::map<uint64_t, Client*> postponed_;  // by Client::postponed_at_, in order of arrival
  uint64_t next_ = 1;
  uint64_t released_until_ = 0;  // those before this place are released
};

}  // namespace zsetd
