#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "core/hashing/keyed_hash.h"

namespace zsetd {

class Client;
class Database;

// A watched key.
struct WatchedKey {
  int database;
  std::string name;
};

// The clients that watch each key (WATCH). A change of the key makes their EXEC fail.
//
// Invariant: a client's `transaction.watched()` are the keys here among whose watchers it is, and
// `transaction.watch_bytes()` is what BytesPerKey has for them.
class Watches {
 public:
  // The bytes that a watch on a key of this name takes, as if no other client watched it.
  static size_t BytesPerKey(size_t name_bytes);

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
  // A WatchedKey, wherever its name is.
  struct KeyView {
    KeyView(int in_database, std::string_view of_name) : database(in_database), name(of_name) {}
    KeyView(const WatchedKey& key) : database(key.database), name(key.name) {}  // NOLINT
    bool operator==(const KeyView&) const = default;

    int database;
    std::string_view name;
  };
  struct KeyHash {
    using is_transparent = void;
    uint64_t operator()(KeyView key) const { return KeyedHash(key.name) + key.database; }
  };
  struct SameKey {
    using is_transparent = void;
    bool operator()(KeyView a, KeyView b) const { return a == b; }
  };
  using Watchers = std::vector<Client*>;

  // Keys stay where they are: clients point to them.
  absl::node_hash_map<WatchedKey, Watchers, KeyHash, SameKey> watchers_;
};

}  // namespace zsetd
