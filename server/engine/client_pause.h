#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/util/time.h"
#include "protocol/resp/words.h"

namespace zsetd {

class Client;
struct Command;

// CLIENT PAUSE: which commands are held back and until when, and who waits for the end, in the
// order they came. Who pauses others usually moves the data elsewhere: so long nothing may change
// by itself either, and keys past their deadline stay until the end, unseen.
//
// Invariant: those who wait are the clients with words in `held_back`.
class Pause {
 public:
  enum class Reach { kWrites, kEverything };

  // From now until then. Of two pauses the wider reach and the later end hold.
  void Begin(Reach reach, Millis now, Millis until);
  void End() { until_.reset(); }

  bool IsOn(Millis now) const { return until_ && now < *until_; }

  // Its end, while it is on; or the present, while it is over and somebody still waits.
  std::optional<Millis> NextDeadline(Millis now) const;

  // Whether this command of the client is to wait.
  bool Holds(const Client& client, const Command& command, Millis now) const;

  // Puts the client's request aside.
  void HoldBack(Client& client, Words words);

  // Forgets the client and its request; does no harm if it has none. O(clients that wait).
  void Remove(Client& client);

  // Who has waited for the longest time, and then no longer does, with the request; or nothing.
  struct HeldBack {
    Client* client;
    std::vector<std::string> words;
  };
  std::optional<HeldBack> TakeFirst();

  size_t held_back() const { return held_back_.size(); }

 private:
  Reach reach_ = Reach::kWrites;
  std::optional<Millis> until_;
  std::deque<Client*> held_back_;
};

}  // namespace zsetd
