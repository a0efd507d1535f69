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

// MAXLEN count [KEEP HIGHEST|LOWEST]: how many elements a set may have after the addition, and
// which of them stay.
struct SizeCap {
  size_t most = 0;  // not 0
  bool keep_lowest = false;

  // The ranks of those that are too many among `size`.
  RankRange ExcessOf(size_t size) const;
};

// Takes "MAXLEN count [KEEP HIGHEST|LOWEST]" if it comes next.
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
  using Pairs = absl::InlinedVector<Element, 2>;  // most requests add one

  AddRule rule;
  bool count_changed = false;      // CH
  std::optional<Millis> deadline;  // from the EX family
  std::optional<SizeCap> cap;      // MAXLEN
  Pairs pairs;                     // views of the request
  bool is_extended = false;        // in a way that Redis does not know
};

// Refuses options that contradict each other.
void CheckRule(ArgReader& args, const AddRule& rule);

// Takes the arguments after the key. An error is kept by the reader.
AddRequest TakeAddRequest(Call& call);

// The set to add to: a new one may only be made where members may be added.
Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule);

// Adds one pair, and updates the set's encoding.
AddResult AddOne(SortedSet& set, const Element& pair, const AddRule& rule,
                 const SortedSetLimits& limits);

// Adds all pairs and replies how many members are new, with CH how many are new or have moved.
void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request);

// Propagates that the pairs were added to the set at `key`, that the elements of `excess` were then
// removed, and that it got the request's deadline, as requests that Redis understands. `changed`:
// an element was added, or has another score.
void PropagateAddition(Call& call, std::string_view key, const Edit<SortedSet>& set,
                       const AddRequest& request, bool changed, RankRange excess = {});

}  // namespace zsetd
