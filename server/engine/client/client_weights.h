#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace zsetd {

class Client;

// The memory of all clients together, and which take most, for maxmemory-clients.
//
// A change of a client's memory sets a flag, and the client is weighed at the next query. So a
// message to a thousand clients weighs each once, and without a limit no client is weighed. Clients
// of one order of magnitude, by powers of two, share a bucket, so the largest are found without a
// search of all of them.
//
// Invariant: a client with a weight is in the bucket of that weight, and `Sum` is the sum of all
// weights. Clients that asked not to be evicted (CLIENT NO-EVICT)
// weigh nothing, nor do replicas.
class ClientWeights {
 public:
  // The state of each client for ClientWeights, which alone uses it.
  struct Entry {
    static constexpr size_t kNone = std::numeric_limits<size_t>::max();
    size_t bytes = 0;
    size_t place = kNone;     // in its bucket
    size_t noted_at = kNone;  // in the list of those to be weighed
  };

  bool is_on() const { return is_on_; }

  // With true, all clients are to be noted: they have no weight yet. With false all is forgotten.
  void Switch(bool on);

  // The client is one of them from now on. O(1).
  void Add(Client& client);

  // The client's memory may have changed. O(1).
  void Note(Client& client);

  // Removes the client. O(1).
  void Remove(Client& client);

  // The memory of all clients. Weighs those that were noted. O(noted).
  size_t Sum();

  // One of the largest: of its order of magnitude, the largest of the first few. Null if none
  // weighs anything. O(1).
  Client* Heaviest();

 private:
  void UpdateMemoryUse(Client& client);
  void WeighNoted();
  std::vector<Client*>& BucketOf(size_t bytes);
  void Insert(Client& client, size_t bytes);
  void Erase(Client& client);

  bool is_on_ = false;
  size_t sum_ = 0;
  std::vector<Client*> noted_;
  std::array<std::vector<Client*>, std::numeric_limits<size_t>::digits + 1> buckets_;
};

}  // namespace zsetd
