#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

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
//   leading  = NX | XX | GT | LT | CH | GET | IFEQ score | FORM form | shared
//   form     = DOUBLE | INT64 | TUPLE field {field} END | HALFLIFE seconds [LOG2]
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
  bool gets_scores = false;        // GET: the reply is the scores before the addition
  std::optional<double> expected;  // IFEQ: the score that a member must have
  std::optional<Millis> deadline;  // from the EX family
  std::optional<SizeCap> cap;      // MAXLEN
  Pairs pairs;                     // views of the request
  bool is_extended = false;        // has options that Redis does not have

  // Scores with a form (zset_form_add.h). Their texts are read when the key's form is known.
  struct RequestedForm {
    ScoreForm form;
    bool has_stored_scores = false;  // LOG2: the scores are as a set stores them
  };
  bool needs_form = false;                    // cannot be scores of DOUBLE
  std::unique_ptr<const RequestedForm> form;  // FORM; null without it
  Args pair_words;                            // scores and members in turn; empty for GEOADD
  std::string_view expected_text;             // of IFEQ
};

// Refuses options that contradict each other.
void CheckRule(ArgReader& args, const AddRule& rule);

// Takes NX, XX, GT, LT or CH. Returns false if the next argument is another word.
bool TakeRuleOption(ArgReader& args, AddRequest& request);

// Takes FORM with the form of the scores. Returns false if the next argument is another word.
bool TakeFormOption(ArgReader& args, AddRequest& request);

// Takes pairs from `args`, the last arguments of the call, until the next argument is not a score.
// Depending on the setting, refuses integers that a double cannot hold.
void TakePairs(Call& call, ArgReader& args, AddRequest& request);

// Takes the arguments after the key. The reader keeps an error.
AddRequest TakeAddRequest(Call& call);

// Opens the set. Only creates a new set if the rule allows new members.
Edit<SortedSet> OpenToAdd(Call& call, std::string_view key, const AddRule& rule);

// Adds all pairs; there is at least one. Returns the number of new members; with CH, the number of
// members that are new or have another score. Appends the members that the rule allows to
// `accepted`.
int64_t AddPairs(Edit<SortedSet>& set, const AddRequest& request,
                 std::vector<std::string_view>* accepted = nullptr);

// Adds the increment to one member and replies its new score, or null if the rule does not allow
// it. For a new member the increment itself is replied, so -0 stays -0, as in Redis. Returns
// whether the member has been set; if not, an error may have been replied.
bool Increment(Call& call, Edit<SortedSet>& set, const Element& pair, const AddRule& rule);

// Refuses INCR with more than one pair.
void CheckIncrement(ArgReader& args, const AddRule& rule, size_t pairs);

// Like `AddPairs()`, but replies the number.
void AddAll(Call& call, Edit<SortedSet>& set, const AddRequest& request);

// Propagates the addition of the pairs as ZADD with the request's rule.
void PropagatePairs(Call& call, std::string_view key, const AddRequest& request);

// Propagates the request as requests that Redis understands: the addition of the pairs to the set
// at `key`, the removal of the elements of `excess`, and the new deadline. `changed`: an element
// was added or has another score.
void PropagateAddition(Call& call, std::string_view key, const Edit<SortedSet>& set,
                       const AddRequest& request, bool changed, RankRange excess = {});

}  // namespace zsetd
