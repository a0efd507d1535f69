#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/range.h"
#include "core/util/time.h"
#include "server/engine/call.h"

namespace zsetd {

// MAXLEN count [KEEP HIGHEST|LOWEST]: the maximum number of elements after the addition, and the
// end whose elements stay.
struct SizeCap {
  size_t most = 0;  // not 0
  bool keep_lowest = false;

  // The ranks of the excess elements of a set with `size` elements.
  RankRange ExcessOf(size_t size) const;
};

// Takes "MAXLEN count [KEEP HIGHEST|LOWEST]" if it is next.
std::optional<SizeCap> TakeSizeCap(ArgReader& args);

// The arguments of ZADD after its key:
//
//   request  = {leading} pair {pair} {trailing}
//   leading  = NX | XX | GT | LT | CH | shared
//   trailing = shared
//   shared   = INCR | EX seconds | PX ms | EXAT seconds | PXAT ms | KEEPTTL
//            | MAXLEN count [KEEP HIGHEST | KEEP LOWEST]
//   pair     = score member
//
// The grammar is unambiguous. No option is a number, so an argument where a score is expected is
// either a score or an option; the argument after a score is always a member. Each shared option is
// allowed once, before the pairs or after them, and only one of the five about time.
struct AddRequest {
  using Pairs = absl::InlinedVector<Element, 2>;  // most requests add one element

  AddRule rule;
  bool count_changed = false;      // CH
  std::optional<Millis> deadline;  // from the EX family
  std::optional<SizeCap> cap;      // MAXLEN
  Pairs pairs;                     // views of the request
  bool is_extended = false;        // has options that Redis does not have
};

// Refuses options that contradict each other.
void CheckRule(ArgReader& args, const AddRule& rule);

// Takes the arguments after the key. The reader keeps an error.
AddRequest TakeAddRequest(Call& call);

// Opens the set. Only creates a new set if the rule allows new members.
Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule);

// Adds all pairs. Replies the number of new members; with CH, the number of members that are new or
// have another score.
void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request);

// Propagates the request as requests that Redis understands: the addition of the pairs to the set
// at `key`, the removal of the elements of `excess`, and the new deadline. `changed`: an element
// was added or has another score.
void PropagateAddition(Call& call, std::string_view key, const Edit<SortedSet>& set,
                       const AddRequest& request, bool changed, RankRange excess = {});

}  // namespace zsetd
