#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sorted_set/form/score_form.h"
#include "core/sorted_set/sorted_set.h"
#include "core/util/range.h"
#include "server/engine/call.h"

// Requests about sorted sets whose scores have a form (core/sorted_set/form/score_form.h).
namespace zsetd {

inline constexpr std::string_view kOtherForm = "ERR the scores of the key have another form";
inline constexpr std::string_view kScoreOverflow = "ERR increment or decrement would overflow";
inline constexpr std::string_view kTooManyForms = "ERR too many forms of scores are in use";
inline constexpr std::string_view kNoPositions =
    "ERR the scores of the key have a form, so they are not positions";

// The code of a score in a set of this form; nullopt if it is not a score of the form. `number` is
// its text as a number.
std::optional<uint64_t> CodeIn(const ScoreForm& form, std::string_view text, double number,
                               Millis now);

// The error for a text that is not a score of this form.
std::string NotAScore(const ScoreForm& form);

// Takes the words of a form after FORM: INT64, TUPLE field [field ...] END, or HALFLIFE seconds.
ScoreForm TakeScoreForm(ArgReader& args);

// Returns the words that propagate scores of this form as they are stored, with FORM before them.
std::vector<std::string> FormWords(const ScoreForm& form);

// Propagates scores of members of a set with a form, in requests of bounded size. zsetd receives
// exact scores and the form, other servers receive doubles:
//
//   ZADD key FORM ... score member ...                            ZADD key score member ...
//   ZADDEX key KEEPTTL FORM ... MEMBERS count score member ...    if members keep their deadlines
//
// Scores that decay are propagated as they are stored (HALFLIFE seconds LOG2), because replicas
// have other clocks.
class PropagatedScores {
 public:
  PropagatedScores(Call& call, std::string_view key, const ScoreForm& form,
                   bool keeps_deadlines = false)
      : call_(call), key_(key), form_(form), keeps_deadlines_(keeps_deadlines) {}
  PropagatedScores(const PropagatedScores&) = delete;
  ~PropagatedScores() { Flush(); }

  // Copies the member. `score` is as the set returned it.
  void Add(std::string_view member, double score);

 private:
  struct Item {
    std::string member, exact, plain;
  };

  void Flush();

  Call& call_;
  const std::string key_;
  const ScoreForm form_;
  const bool keeps_deadlines_;
  std::vector<Item> items_;
};

// Elements that are about to be removed from a set with a form. Other servers have rounded scores,
// and order elements of equal scores by their members, so their ranks may differ:
//
//   exact     1 a   3 d | 4 b   5 c | 6 e            ZREMRANGEBYRANK key 2 3 removes b and c,
//   rounded   0 a   4 b   4 c   4 d   6 e            but c and d there; all scores plus 2^53
//
// A short removal is propagated by name. A long removal names only the members whose ties continue
// outside of the range. The elements between them have the same ranks everywhere:
//
//   ZREM key member [member ...]
//   ZREMRANGEBYRANK key start stop
//
// O(named members).
class RemovedMembers {
 public:
  RemovedMembers(Call& call, const SortedSet& set, RankRange ranks);

  // Propagates the removal. Returns false for a set without a form, whose ranks are the same
  // everywhere.
  bool Propagate(std::string_view key);

 private:
  void Name(const SortedSet& set, RankRange ranks);

  Call& call_;
  bool has_form_;
  // Empty without a journal.
  std::vector<std::string> members_;  // removed by name, first
  RankRange others_;                  // removed by rank
};

}  // namespace zsetd
