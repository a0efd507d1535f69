#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sorted_set/sorted_set.h"
#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// What a ZADD asks, after its key:
//
//   request  = {leading} pair {pair} {trailing}
//   leading  = NX | XX | GT | LT | CH | shared
//   trailing = shared
//   shared   = INCR | EX seconds | PX ms | EXAT seconds | PXAT ms | KEEPTTL
//   pair     = score member
//
// Nothing is ever misread. An option is no number, so a word at a score's place is the one or the
// other by itself; a member stands right after its score, where any word is a member. Each shared
// option is given once, before the pairs or after, and of the last five only one.
struct AddRequest {
  AddRule rule;
  bool count_changed = false;      // CH
  std::optional<Millis> deadline;  // from the EX family
  std::vector<Element> pairs;      // views of the request
};

AddRequest TakeAddRequest(Call& call);

}  // namespace zsetd
