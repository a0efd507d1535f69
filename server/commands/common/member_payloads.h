#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "server/engine/call.h"

namespace zsetd {

// Propagates payloads of members of the sorted set at a key, in requests of bounded size that only
// zsetd receives. The views must stay valid until the object is destroyed.
//
//   ZSETDATA key member payload ...     ZDELDATA key member ...
class PropagatedPayloads {
 public:
  PropagatedPayloads(Call& call, std::string_view key) : call_(call), key_(key) {}
  PropagatedPayloads(const PropagatedPayloads&) = delete;
  ~PropagatedPayloads() { Flush(); }

  // Adds the new payload of a member; nullopt means that its payload was deleted.
  void Add(std::string_view member, std::optional<std::string_view> payload);

 private:
  void Flush();

  Call& call_;
  const std::string_view key_;
  bool deletes_ = false;                 // the kind of the request that is being collected
  std::vector<std::string_view> words_;  // of it; empty: none
  size_t bytes_ = 0;                     // of its words after the key
};

// Propagates the payloads of all members of the value at `key`, if it is a sorted set.
void PropagateMemberPayloads(Call& call, std::string_view key);

}  // namespace zsetd
