#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/time.h"
#include "core/value.h"

namespace zsetd {

// One key of a keyspace with its value and, if it has one, its deadline. Its address stays the same
// for as long as the key lives; only the keyspace makes and frees entries and moves deadlines.
class Entry {
 public:
  std::string_view key() const { return key_; }
  std::optional<Millis> deadline() const { return deadline_; }

  Value value;

  // Everything the key costs: this object, its key, its value. O(blocks).
  size_t BytesUsed() const {
    return AllocatedBytes(this) + AllocatedBytes(key_) + zsetd::BytesUsed(value);
  }

 private:
  friend class Keyspace;
  template <class Node>
  friend class Dictionary;

  Entry(std::string_view key, Value held) : value(std::move(held)), key_(key) {}

  Entry* next_ = nullptr;  // in its bucket of the dictionary
  std::string key_;
  std::optional<Millis> deadline_;
};

}  // namespace zsetd
