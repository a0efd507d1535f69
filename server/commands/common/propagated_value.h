#pragma once

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "server/engine/call.h"

namespace zsetd {

// Propagates items as requests "command key item ...". Each request has at most as many items as
// clients usually send. Does nothing without a journal.
class PropagatedItems {
 public:
  // `items` items of `words` words each follow.
  PropagatedItems(Call& call, std::string_view command, std::string_view key, size_t items,
                  size_t words = 1);
  PropagatedItems(const PropagatedItems&) = delete;
  ~PropagatedItems() { assert(left_in_request_ == 0); }  // a request was announced with its items

  void Add(std::initializer_list<std::string_view> item);

 private:
  Call& call_;
  std::string_view command_;
  std::string_view key_;
  size_t left_;
  size_t words_;
  size_t left_in_request_ = 0;
};

// Propagates the value that the command has stored at `key`, instead of the command. The value is a
// string, list or sorted set without a deadline. A replica that ran the command might compute
// another result, which depends on the order of a hash table or on the platform's mathematics.
// Older servers may not know the command. If there is no value, propagates the key's deletion.
// O(elements).
void PropagateValue(Call& call, std::string_view key);

}  // namespace zsetd
