#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/prefetch_step.h"
#include "protocol/words.h"
#include "server/engine/command_table.h"

namespace zsetd {

class Database;
class SortedSet;

// Brings into the cache what the requests of a pipeline are going to read. One request after the
// other waits for memory three or four times, each time for longer than it computes; here the loads
// of all of them are under way at once:
//
//   keys       bucket, entry            of every request's first key
//   members    index, block, element    of the members that requests name, in large sorted sets
//
// Nothing is changed, and nothing depends on it: what it foresees may not come true.
class Lookahead {
 public:
  // O(requests). Where nothing was out of the cache's reach, it looks at one call in so many only.
  void Fetch(const Database& database, const CommandTable& commands,
             std::span<const Words> requests);

 private:
  struct Name {
    std::string_view key;
    std::string_view member;
  };
  struct Member {
    const SortedSet* set;
    uint64_t hash;
  };

  void FindKeys(const CommandTable& commands, std::span<const Words> requests);
  void FindMembers(const Database& database);

  std::vector<std::string_view> keys_;
  std::vector<Name> names_;  // of members, as the requests have them
  std::vector<Member> members_;
  size_t rest_ = 0;  // calls to pass over
};

}  // namespace zsetd
