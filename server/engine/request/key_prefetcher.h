#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/sorted_set/skip_list/prefetch_step.h"
#include "protocol/resp/args.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

class Database;
class Entry;
class SortedSet;

// Prefetches what the next requests will read: those of one client's pipeline, or of many clients.
// A single request has three or four dependent cache misses, each of which takes longer than its
// computation; here the loads of all requests overlap:
//
//   keys       bucket, entry            of every key that FindKeys() finds, up to a number
//   sets       start                    at the first key of commands for sorted sets, and of
//   scripts members    index, block, element    of the members they name, in large sets
//
// It changes nothing, and nothing depends on it: its guesses may be wrong.
class KeyPrefetcher {
 public:
  // False while Add() and Fetch() do nothing, because the last batches had nothing to prefetch.
  bool IsActive() const { return rest_ == 0; }

  // These requests are about to be run. The arguments must stay valid until Fetch(). Requests in
  // another database than the first since then are skipped. O(requests).
  void Add(const Database& database, const CommandTable& commands, std::span<const Args> requests);

  // Prefetches for what was added since the last call. While everything is in the cache, it samples
  // only some of the batches. O(requests).
  void Fetch();

 private:
  // The key and member of a sorted-set request; without a member its data() is null.
  struct Use {
    size_t key;  // of the keys
    std::string_view member;
    const SortedSet* set = nullptr;  // set once it is found
  };
  struct Member {
    const SortedSet* set;
    uint64_t hash;
  };

  void Add(const Command& command, Args argv);
  void AddFirst(const Command& command, Args argv, size_t key_at);
  void FindSets();
  void FindMembers();
  void Forget();

  const Database* database_ = nullptr;
  std::vector<std::string_view> keys_;  // of the requests; a repeated first key only once
  std::vector<Use> uses_;
  std::vector<Member> members_;
  size_t rest_ = 0;  // batches to skip
  bool passed_over_ = false;
};

}  // namespace zsetd
