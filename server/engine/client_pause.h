#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "core/util/time.h"
#include "protocol/resp/words.h"
#include "server/engine/client/owned_words.h"

namespace zsetd {

class Client;
struct Command;

// CLIENT PAUSE: which commands are postponed, until when, and the postponed clients in order of
// arrival. A pause usually serves a failover, so during it nothing else changes either: expired
// keys are not deleted until the end, but not visible.
//
// Invariant: the postponed clients are those with a request in `held_back`.
class Pause {
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
  void HoldBack(Client& client, Words words);

  // Removes the client and its request; no effect if it has none. O(postponed clients).
  void Remove(Client& client);

  // Removes and returns the client that was postponed first, with its request; or nothing.
  struct HeldBack {
    Client* client;
    OwnedWords words;
  };
  std::optional<HeldBack> TakeFirst();

  size_t held_back() const { return held_back_.size(); }

 private:
  Reach reach_ = Reach::kWrites;
  std::optional<Millis> until_;
  std::deque<Client*> held_back_;
};

}  // namespace zsetd
