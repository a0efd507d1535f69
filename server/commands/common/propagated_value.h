#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Propagates items in requests "command key item ...", each with at most as many items as clients
// usually send at once. Does nothing without a journal.
class PropagatedItems {
 public:
  // So many items follow, each of `words` words.
  PropagatedItems(Call& call, std::string_view command, std::string_view key, size_t items,
                  size_t words = 1);

  void Add(std::initializer_list<std::string_view> item);

 private:
  Call& call_;
  std::string_view command_;
  std::string_view key_;
  size_t left_;
  size_t words_;
  size_t left_in_request_ = 0;
};

// Propagates the value that the command has put at `key`, a string, list or sorted set without a
// deadline, in place of how it was found: the result may depend on the order of a hash table or on
// the platform's mathematics, or older servers do not know the request. If there is no value: that
// the key is deleted. O(elements).
void PropagateValue(Call& call, std::string_view key);

}  // namespace zsetd
