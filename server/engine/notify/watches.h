#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/hashing/keyed_hash.h"

namespace zsetd {

class Client;
class Database;

// Who watches which key (WATCH), and what a change of the key does to them: their EXEC fails.
class Watches {
 public:
  void Add(Client& client, int database, std::string_view key);
  void RemoveAll(Client& client);  // also forgets that one of its keys was touched

  // The key has changed.
  void Touch(int database, std::string_view key);

  // The watched keys of the database. O(watched keys).
  std::vector<std::string> KeysOf(int database) const;

  // All keys of `before` are replaced by those of `after` (FLUSHDB, SWAPDB): touches the watched
  // ones that are in either.
  void TouchAll(int database, const Database& before, const Database* after);

  size_t key_count() const { return watchers_.size(); }

 private:
  using Key = std::pair<int, std::string>;
  struct KeyHash {
    uint64_t operator()(const Key& key) const { return KeyedHash(key.second) + key.first; }
  };

  absl::flat_hash_map<Key, std::vector<Client*>, KeyHash> watchers_;
};

}  // namespace zsetd
