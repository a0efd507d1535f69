#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/sorted_set/skip_list/prefetch_step.h"
#include "protocol/resp/words.h"
#include "server/engine/command/command_table.h"

namespace zsetd {

class Database;
class Entry;
class SortedSet;

// Brings into the cache what requests that are about to run are going to read: those of one
// client's pipeline, or of many clients. One request after the other waits for memory three or four
// times, each time for longer than it computes; here the loads of all of them are under way at
// once:
//
//   keys       bucket, entry            of every key that stands at a fixed place, up to a number
//   sets       start                    at the first key of commands for sorted sets
//   members    index, block, element    of the members they name, in large sets
//
// Nothing is changed, and nothing depends on it: what it foresees may not come true.
class Lookahead {
 public:
  // These requests are about to be run. The words stay where they are until Fetch(). Those in
  // another database than the first since then are passed over. O(requests).
  void Add(const Database& database, const CommandTable& commands, std::span<const Words> requests);

  // Fetches for what was added since the last time. Where nothing was out of the cache's reach, it
  // looks at one batch in so many only. O(requests).
  void Fetch();

 private:
  // What a request for sorted sets names; the member may be none, its data() null.
  struct Use {
    size_t key;  // of the keys
    std::string_view member;
    const SortedSet* set = nullptr;  // there, once it was found
  };
  struct Member {
    const SortedSet* set;
    uint64_t hash;
  };

  void Add(const Command& command, Words words);
  void FindSets();
  void FindMembers();
  void Forget();

  const Database* database_ = nullptr;
  std::vector<std::string_view> keys_;  // of the requests; a first one not twice in a row
  std::vector<Use> uses_;
  std::vector<Member> members_;
  size_t rest_ = 0;  // batches to pass over
  bool passed_over_ = false;
};

}  // namespace zsetd
