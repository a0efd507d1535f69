#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "core/hashing/dictionary.h"
#include "core/util/rng.h"

namespace zsetd {

// Which clients have read which keys. A key is its name alone, whatever the database, as in Redis.
// Clients are known by their ids, so that one can leave without a search for all that it has read.
class TrackingTable {
 public:
  using Readers = absl::btree_set<uint64_t>;

  explicit TrackingTable(uint64_t hash_seed) : keys_(hash_seed) {}

  // Returns all readers of the key, this one included; for a look, or to leave some of them out.
  // Valid until the next call.
  const Readers& Add(std::string_view key, uint64_t reader);

  // Forgets all readers of the key for which `gone(id)` holds. O(readers).
  template <class Gone>
  void RemoveReaders(std::string_view key, Gone gone);

  // Removes the key and returns the clients that have read it, by age.
  std::vector<uint64_t> Take(std::string_view key);

  // A random key. The table must not be empty.
  std::string_view Random(Rng& rng) const {
    assert(keys_.size() > 0);
    return keys_.Random(rng)->key();
  }

  size_t key_count() const { return keys_.size(); }
  size_t reader_count() const { return reader_count_; }  // of all keys, added up

 private:
  class Key {
   public:
    explicit Key(std::string_view name) : name_(name) {}

    std::string_view key() const { return name_; }
    Key* next() const { return next_; }
    void set_next(Key* next) { next_ = next; }

    Readers readers;

   private:
    std::string name_;
    Key* next_ = nullptr;
  };

  Dictionary<Key> keys_;
  size_t reader_count_ = 0;
};

template <class Gone>
void TrackingTable::RemoveReaders(std::string_view key, Gone gone) {
  if (Key* found = keys_.Find(key)) reader_count_ -= absl::erase_if(found->readers, gone);
}

}  // namespace zsetd
