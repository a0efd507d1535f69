#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace zsetd {

class Client;

// The memory of all clients together, and which take most, for maxmemory-clients.
//
// A client whose memory may have changed is noted, at the cost of a flag, and weighed when somebody
// asks next: so a message to a thousand clients weighs each once, and nothing is weighed at all
// while there is no limit. Clients of one order of magnitude, by powers of two, share a bucket, so
// that the largest are found without looking at all of them.
//
// Invariant: a client with a weight is in the bucket of that weight, and `Sum` is the sum of all
// weights. Clients that asked not to be evicted (CLIENT NO-EVICT)
// weigh nothing, nor do replicas.
class ClientWeights {
 public:
  // What the weights keep with each client; theirs alone.
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

  // The client is none of them any more. O(1).
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
