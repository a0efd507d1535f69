#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/engine/client/client.h"

namespace zsetd {

// The clients that wait for acknowledgements of their writes (WAIT, WAITAOF). Waits that have ended
// otherwise are forgotten when the next one is looked for.
class AcknowledgementWaits {
 public:
  // The client has begun to wait.
  void Add(const Client& client) { waits_.push_back({client.id, client.blocked->number}); }

  bool empty() const { return waits_.empty(); }

  // Calls `serve` for each client whose writes are acknowledged. `clients` are those that are
  // attached. O(waits).
  template <class Serve>
  void ServeAcknowledged(const std::map<uint64_t, Client*>& clients, Serve serve) {
    std::erase_if(waits_, [&](const Entry& entry) {
      const auto found = clients.find(entry.client);
      if (found == clients.end()) return true;
      Client& client = *found->second;
      if (!client.blocked || client.blocked->number != entry.number) return true;
      if (!client.blocked->wait->IsAcknowledged()) return false;
      serve(client);
      return true;
    });
  }

 private:
  struct Entry {
    uint64_t client;  // by id
    uint64_t number;  // BlockedCommand::number
  };

  std::vector<Entry> waits_;
};

}  // namespace zsetd
