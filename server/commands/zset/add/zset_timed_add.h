#pragma once

#include <optional>
#include <string_view>

#include "core/util/time.h"
#include "server/commands/zset/add/zset_add.h"
#include "server/engine/call.h"

namespace zsetd {

// An addition that also sets the deadlines of its members, as ZADDEX does, and GEOADD with EX.
struct TimedAddRequest {
  AddRequest add;                  // with KEEPTTL in its rule, without options about the key's time
  std::optional<Millis> deadline;  // for the members that are set

  bool IsTimed() const { return deadline || add.rule.keep_deadline; }
};

// Takes EX, PX, EXAT, PXAT or KEEPTTL, which concern the members. As for ZADD, a time that is not
// positive is an error. Returns false if the next argument is another word.
bool TakeMemberDeadline(Call& call, TimedAddRequest& request);

// Opens the set at `key`, adds the pairs, sets the deadlines, and replies the number of members
// that were added, or the new score of INCR. A deadline that has passed removes the members.
// Propagates all of that. The arguments have been taken, but not checked by Call::Refused().
void AddTimed(Call& call, std::string_view key, const TimedAddRequest& request);

}  // namespace zsetd
