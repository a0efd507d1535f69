#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "core/util/time.h"
#include "protocol/resp/args.h"
#include "server/engine/client/owned_args.h"

namespace zsetd {

class Client;
struct Command;

// CLIENT PAUSE: which commands are postponed, until when, and the postponed clients in order of
// arrival. A pause usually serves a failover, so during it nothing else changes either: expired
// keys are not deleted until the end, but not visible.
//
// Invariant: the postponed clients are those with a request in `postponed_request`.
class ClientPause {
 public:
  enum class Reach { kWrites, kEverything };

  // From now until then. Two pauses combine to the wider scope and the later end.
  void Begin(Reach reach, Millis now, Millis until);
  void End() { until_.reset(); }

  bool IsOn(Millis now) const { return until_ && now < *until_; }

  // Its end, while it is on; or the present time, if it is over and requests are still postponed.
  std::optional<Millis> NextDeadline(Millis now) const;

  // Whether this command of the client must be postponed.
  bool Holds(const Client& client, const Command& command, Millis now) const;

  // Postpones the client's request.
  void Postpone(Client& client, Args argv);

  // Removes the client and its request; no effect if it has none. O(postponed clients).
  void Remove(Client& client);

  // Removes and returns the client that was postponed first, with its request; or nothing.
  struct PostponedRequest {
    Client* client;
    OwnedArgs argv;
  };
  std::optional<PostponedRequest> TakeFirst();

  size_t postponed() const { return postponed_.size(); }

 private:
  Reach reach_ = Reach::kWrites;
  std::optional<Millis> until_;
  std::deque<Client*> postponed_;
};

}  // namespace zsetd
